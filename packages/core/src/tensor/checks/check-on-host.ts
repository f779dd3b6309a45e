import { describeValue, InvalidArgumentError } from '../../errors.ts';
import { isHostArray } from '../host-array.ts';

/**
 * Checks that a value is a `Tensor`, of this or another copy of the package, on this host.
 * @throws InvalidArgumentError if it is not.
 */
export function checkHostTensor(argument: string, t: unknown): void {
  if (isHostArray(t) && 'toFloat64' in t) return;
  const isElsewhere = typeof t === 'object' && t !== null && 'shape' in t && !('data' in t);
  throw new InvalidArgumentError(
    argument,
    `must be a Tensor on this host${isElsewhere ? ': download it first' : `, got ${describeValue(t)}`}`,
  );
}

/** Whether a value is an object other than a tensor. The field `shape` of a tensor is a list. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('shape' in value && Array.isArray(value.shape));
}

/** The deepest nesting of records in a call, such as `captures` in `scoreMod`. */
export const DEEPEST_RECORD = 4;

/**
 * Checks that the tensors of a record, and of records in it, have their elements on this host. Numbers, lists
 * of numbers, and values that are not tensors pass: another rule checks the kind of an argument.
 * @throws InvalidArgumentError naming the first tensor that is elsewhere, such as `raggedOffsets.q` within
 * `raggedOffsets`.
 */
export function checkOnHost(values: object, within = '', depth: number = DEEPEST_RECORD): void {
  for (const [key, value] of Object.entries(values)) {
    const name = within + key;
    if (typeof value !== 'object' || value === null) continue;
    if (isHostArray(value) || Array.isArray(value) || ArrayBuffer.isView(value)) continue;
    if (isRecord(value)) {
      if (depth > 0) checkOnHost(value, `${name}.`, depth - 1);
    } else throw new InvalidArgumentError(name, 'must be a Tensor on this host: download it first');
  }
}
