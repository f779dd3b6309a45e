import { boolType } from '../../file/element-type.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { both, guardedSoftmax, isInfinite } from '../attention/softmax-guards.ts';
import { type Emit, elementwise } from './elementwise.ts';

const compare = (kind: string, apply: (a: number, b: number) => boolean): OnnxOperator =>
  elementwise(
    2,
    ([a, b]) => Number(apply(a, b)),
    (draft, tensors) => draft.test(kind, ...tensors),
    () => boolType,
  );

const logic = (emit: Emit, apply: (a: boolean, b: boolean) => boolean): OnnxOperator =>
  elementwise(
    2,
    ([a, b]) => Number(apply(a !== 0, b !== 0)),
    emit,
    () => boolType,
  );

/** Whether x is NaN: only NaN differs from itself. */
const isNaNOperator: OnnxOperator = elementwise(
  1,
  ([x]) => Number(Number.isNaN(x)),
  (draft, [x]) => draft.test('NotEqual', x, x),
  () => boolType,
);

/** The infinities that `IsInf` detects. */
const detected = (call: NodeCall): Readonly<Record<'positive' | 'negative', boolean>> => ({
  positive: call.flag('detect_positive', true),
  negative: call.flag('detect_negative', true),
});

const isInfOperator: OnnxOperator = elementwise(
  1,
  ([x], call) =>
    Number((x > 0 ? detected(call).positive : detected(call).negative) && Math.abs(x) === Infinity),
  (draft, [x], call) => isInfinite(draft, x, detected(call)),
  () => boolType,
);

/** condition ? a : b, where all three broadcast to one shape. */
const where = elementwise(
  3,
  ([condition, a, b]) => (condition !== 0 ? a : b),
  (draft, tensors, call) => {
    const [condition, a, b] = tensors;
    return guardedSoftmax(draft, tensors, call) ?? draft.select(condition, a, b);
  },
  call => call.input(1).type,
);

/** Comparisons, logical operators, and choices by a condition. */
export const comparisonOperators: Readonly<Record<string, OnnxOperator>> = {
  Not: elementwise(
    1,
    ([x]) => Number(x === 0),
    (draft, [x]) => draft.op('LogicalNot', [x]),
  ),
  Equal: compare('Equal', (a, b) => a === b),
  Less: compare('Less', (a, b) => a < b),
  LessOrEqual: compare('LessEqual', (a, b) => a <= b),
  Greater: compare('Greater', (a, b) => a > b),
  GreaterOrEqual: compare('GreaterEqual', (a, b) => a >= b),
  And: logic(both, (a, b) => a && b),
  Or: logic(
    (draft, tensors) => draft.test('LogicalOr', ...tensors),
    (a, b) => a || b,
  ),
  Xor: compare('NotEqual', (a, b) => a !== b),
  IsInf: isInfOperator,
  IsNaN: isNaNOperator,
  Where: where,
};
