import { InvalidArgumentError } from '../errors.ts';
import { type HostArray, isHostArray } from './host-array.ts';
import { elementCount, maxOffset } from './shape.ts';

/**
 * Checks that the tensors of a record, at any depth, still have their storage: whoever transfers an ArrayBuffer to another thread, or shrinks
 * it, takes it away from tensors that were made over it.
 * @throws InvalidArgumentError naming the first that has not, as `captures.NAME` within `captures`.
 */
export function checkStorage(tensors: object, within = ''): void {
  for (const [key, value] of Object.entries(tensors)) {
    const name = within + key;
    if (isHostArray(value)) checkTensorStorage(name, value);
    else if (isGroup(value)) checkStorage(value, `${name}.`);
  }
}

/** @throws InvalidArgumentError naming a tensor that no longer has its storage. */
export function checkTensorStorage(name: string, { data, offset, shape, strides }: HostArray): void {
  const needed = elementCount(shape) === 0 ? 0 : offset + maxOffset(shape, strides) + 1;
  if (data.length >= needed) return;
  throw new InvalidArgumentError(
    name,
    `must have ${needed} elements of storage, has ${data.length}; its buffer has been transferred or has shrunk`,
  );
}

/** A record of tensors, and no tensor whose storage is elsewhere. */
function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('shape' in value);
}
