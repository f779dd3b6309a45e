import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { Draft } from '../../draft.ts';
import { cast, scalar, select } from '../emit.ts';

/**
 * Quotient and remainder of integers, exact: f32 gives a quotient that is off by a part of 2^-24, what is
 * left is divided once more, and the remainder is corrected by one divisor at most.
 * @returns i32: the quotient towards 0, its remainder, and the remainder that has the sign of b.
 */
export function divideIntegers(
  draft: Draft,
  a: LogicalTensor,
  b: LogicalTensor,
): Readonly<Record<'quotient' | 'remainder' | 'floorRemainder', LogicalTensor>> {
  const [x, y] = [cast(draft, a, 'i32'), cast(draft, b, 'i32')];
  const op = (kind: string, ...inputs: LogicalTensor[]): LogicalTensor => draft.op(kind, inputs, {}, 'i32');
  const compare = (kind: string, p: LogicalTensor, q: LogicalTensor): LogicalTensor =>
    draft.op(kind, [p, q], {}, 'bool');
  const [zero, one] = [scalar(draft, 0, 'i32'), scalar(draft, 1, 'i32')];
  const near = (p: LogicalTensor): LogicalTensor =>
    cast(draft, draft.op('Divide', [cast(draft, p, 'f32'), cast(draft, y, 'f32')]), 'i32');
  const first = near(x);
  const left = op('Subtract', x, op('Multiply', first, y));
  const estimate = op('Add', first, near(left));
  const rest = op('Subtract', x, op('Multiply', estimate, y));
  const isDivisorNegative = compare('Less', y, zero);
  const size = select(draft, isDivisorNegative, op('Subtract', zero, y), y);
  const sign = select(draft, isDivisorNegative, op('Subtract', zero, one), one);
  // Remainders from 0 to |b|: the quotient is then rounded downwards for a positive b, else upwards.
  const isBelow = compare('Less', rest, zero);
  const raised = select(draft, isBelow, op('Add', rest, size), rest);
  const isAbove = compare('GreaterEqual', raised, size);
  const positive = select(draft, isAbove, op('Subtract', raised, size), raised);
  const isWhole = compare('Equal', positive, zero);
  const turned = (when: LogicalTensor): LogicalTensor =>
    select(draft, isWhole, positive, select(draft, when, op('Subtract', positive, size), positive));
  const remainder = turned(compare('Less', x, zero));
  // (x − remainder) / b is whole, and the estimate is off by one at most.
  const steps = op('Subtract', rest, remainder);
  const correction = select(
    draft,
    compare('Greater', steps, zero),
    sign,
    select(draft, compare('Less', steps, zero), op('Subtract', zero, sign), zero),
  );
  return { quotient: op('Add', estimate, correction), remainder, floorRemainder: turned(isDivisorNegative) };
}
