import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { Draft } from '../../draft.ts';
import { divideIntegers } from '../elementwise/divide-integers.ts';

/**
 * The sum of integers, exact where it is less than 2^31: sums are f32, which is exact up to 2^24, so each
 * digit of `bits` bits is summed separately.
 */
export function integerSum(
  draft: Draft,
  x: LogicalTensor,
  count: number,
  sum: (t: LogicalTensor) => LogicalTensor,
): LogicalTensor {
  const bits = Math.max(1, 24 - Math.ceil(Math.log2(Math.max(2, count))));
  const base = draft.scalar(2 ** bits, 'i32');
  let rest = draft.cast(x, 'i32');
  const digits: LogicalTensor[] = [];
  for (let done = 0; done < 32; done += bits) {
    const { quotient, remainder } = divideIntegers(draft, rest, base);
    digits.push(draft.cast(sum(draft.cast(remainder, 'f32')), 'i32'));
    rest = quotient;
  }
  const total = digits.reduceRight((high, digit) =>
    draft.op('Add', [draft.op('Multiply', [high, base], {}, 'i32'), digit], {}, 'i32'),
  );
  return draft.cast(total, x.dtype);
}

/**
 * The exact largest or smallest integer: first of the upper 16 bits, then of the lower bits of integers with
 * these upper bits.
 * @param reduce reduces a tensor, and keeps the reduced dimensions.
 */
export function integerExtreme(
  draft: Draft,
  kind: 'ReduceMax' | 'ReduceMin',
  x: LogicalTensor,
  reduce: (t: LogicalTensor) => LogicalTensor,
): LogicalTensor {
  const whole = draft.cast(x, 'i32');
  const low = divideIntegers(draft, whole, draft.scalar(2 ** 16, 'i32')).floorRemainder;
  const high = draft.cast(draft.op('Subtract', [whole, low], {}, 'i32'), 'f32');
  const extreme = reduce(high);
  const isThere = draft.test('Equal', high, extreme);
  const none = draft.scalar(kind === 'ReduceMax' ? -1 : 2 ** 16, 'f32');
  const rest = reduce(draft.select(isThere, draft.cast(low, 'f32'), none));
  const sum = draft.op('Add', [draft.cast(extreme, 'i32'), draft.cast(rest, 'i32')], {}, 'i32');
  return draft.cast(sum, x.dtype);
}
