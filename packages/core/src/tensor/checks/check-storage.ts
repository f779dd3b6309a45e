import { describeValue, InvalidArgumentError } from '../../errors.ts';
import { type HostArray, isHostArray } from '../host-array.ts';
import { elementsSpanned } from '../shape.ts';
import { DEEPEST_RECORD, isRecord } from './check-on-host.ts';

/**
 * Checks that the tensors of a record, and of records in it, still have their storage. A tensor loses it if
 * it is released, or if its buffer is transferred to another thread or shrinks.
 * @throws InvalidArgumentError naming the first tensor without storage, such as `captures.NAME` within
 * `captures`.
 */
export function checkStorage(tensors: object, within = '', depth: number = DEEPEST_RECORD): void {
  for (const [key, value] of Object.entries(tensors)) {
    const name = within + key;
    if (isHostArray(value)) checkTensorStorage(name, value);
    else if (depth > 0 && isRecord(value)) checkStorage(value, `${name}.`, depth - 1);
  }
}

/** @throws InvalidArgumentError naming a tensor that no longer has its storage. */
export function checkTensorStorage(name: string, tensor: HostArray): void {
  const { data, offset } = tensor;
  if (!Number.isInteger(offset) || offset < 0)
    throw new InvalidArgumentError(name, `must have an offset ≥ 0 in elements, got ${describeValue(offset)}`);
  const spanned = elementsSpanned(tensor);
  const needed = spanned && offset + spanned;
  if (data.length >= needed) return;
  throw new InvalidArgumentError(
    name,
    `must have ${needed} elements of storage, has ${data.length}: it was released, transferred or shrunk`,
  );
}
