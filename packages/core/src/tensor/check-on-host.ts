import { describeValue, InvalidArgumentError } from '../errors.ts';
import { isHostArray } from './host-array.ts';

/** @throws InvalidArgumentError for what is no tensor, or one whose elements are elsewhere. */
export function checkHostTensor(argument: string, t: unknown): void {
  if (!isHostArray(t))
    throw new InvalidArgumentError(argument, `must be a Tensor on this host, got ${describeValue(t)}`);
}

/**
 * Checks that the tensors of a record, at any depth, have their elements here, where code on the host reads them. Numbers and lists of
 * them pass, and so does what is no tensor at all: what an argument must be is its own rule.
 * @throws InvalidArgumentError naming the first that has not, as `raggedOffsets.q` within `raggedOffsets`.
 */
export function checkOnHost(values: object, within = ''): void {
  for (const [key, value] of Object.entries(values)) {
    const name = within + key;
    if (typeof value !== 'object' || value === null) continue;
    if (isHostArray(value) || Array.isArray(value) || ArrayBuffer.isView(value)) continue;
    if (!('shape' in value)) checkOnHost(value, `${name}.`);
    else throw new InvalidArgumentError(name, 'must be a Tensor on this host: download it first');
  }
}
