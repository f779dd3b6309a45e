import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { Draft } from '../../draft.ts';

/**
 * The exact quotient and remainder of integers. The f32 quotient has a relative error of 2^-24, so what is
 * left is divided a second time, and the remainder is then corrected by at most one divisor.
 * @returns i32 tensors: the quotient rounded towards 0, its remainder, and the remainder with the sign of b.
 */
export function divideIntegers(
  draft: Draft,
  a: LogicalTensor,
  b: LogicalTensor,
): Readonly<Record<'quotient' | 'remainder' | 'floorRemainder', LogicalTensor>> {
  const [x, y] = [draft.cast(a, 'i32'), draft.cast(b, 'i32')];
  const op = (kind: string, ...inputs: LogicalTensor[]): LogicalTensor => draft.op(kind, inputs, {}, 'i32');
  const zero = draft.scalar(0, 'i32');
  // The quotients of GPUs are up to 2.5 units in the last place off, so a whole one may be just below.
  const near = (p: LogicalTensor): LogicalTensor =>
    draft.cast(draft.op('Round', [draft.op('Divide', [draft.cast(p, 'f32'), draft.cast(y, 'f32')])]), 'i32');
  const first = near(x);
  const left = op('Subtract', x, op('Multiply', first, y));
  const estimate = op('Add', first, near(left));
  const rest = op('Subtract', x, op('Multiply', estimate, y));
  const isDivisorNegative = draft.test('Less', y, zero);
  const size = draft.select(isDivisorNegative, op('Subtract', zero, y), y);
  // With remainders from 0 to |b|, the quotient is rounded down for a positive b, else up.
  const isBelow = draft.test('Less', rest, zero);
  const raised = draft.select(isBelow, op('Add', rest, size), rest);
  const isAbove = draft.test('GreaterEqual', raised, size);
  const positive = draft.select(isAbove, op('Subtract', raised, size), raised);
  const isWhole = draft.test('Equal', positive, zero);
  const remainderWhere = (isNegative: LogicalTensor): LogicalTensor =>
    draft.select(isWhole, positive, draft.select(isNegative, op('Subtract', positive, size), positive));
  const remainder = remainderWhere(draft.test('Less', x, zero));
  return {
    // (x − remainder) / b is an integer, and the estimate is off by at most one.
    quotient: op('Add', estimate, near(op('Subtract', rest, remainder))),
    remainder,
    floorRemainder: remainderWhere(isDivisorNegative),
  };
}
