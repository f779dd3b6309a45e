import { boolType } from '../../file/element-type.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { both, guardedSoftmax, isInfinite } from '../attention/softmax-guards.ts';
import { select } from '../emit.ts';
import { type Emit, elementwise, needing } from './elementwise.ts';

const compare = (kind: string, apply: (a: number, b: number) => boolean): OnnxOperator =>
  needing(
    2,
    elementwise(
      ([a, b]) => Number(apply(a, b)),
      (draft, tensors) => draft.op(kind, tensors, {}, 'bool'),
      () => boolType,
    ),
  );

const logic = (emit: Emit, apply: (a: boolean, b: boolean) => boolean): OnnxOperator =>
  needing(
    2,
    elementwise(
      ([a, b]) => Number(apply(a !== 0, b !== 0)),
      emit,
      () => boolType,
    ),
  );

/** Whether x is NaN: no number but NaN differs from itself. */
const isNaNOperator: OnnxOperator = elementwise(
  ([x]) => Number(Number.isNaN(x)),
  (draft, [x]) => draft.op('NotEqual', [x, x], {}, 'bool'),
  () => boolType,
);

/** Which infinities `IsInf` looks for. */
const detected = (call: NodeCall): Readonly<Record<'positive' | 'negative', boolean>> => ({
  positive: call.flag('detect_positive', true),
  negative: call.flag('detect_negative', true),
});

const isInfOperator: OnnxOperator = elementwise(
  ([x], call) =>
    Number((x > 0 ? detected(call).positive : detected(call).negative) && Math.abs(x) === Infinity),
  (draft, [x], call) => isInfinite(draft, x, detected(call)),
  () => boolType,
);

/** condition ? a : b, all broadcast to one shape. */
const where = needing(
  3,
  elementwise(
    ([condition, a, b]) => (condition !== 0 ? a : b),
    (draft, [condition, a, b], call) =>
      guardedSoftmax(draft, [condition, a, b], call) ?? select(draft, condition, a, b),
    call => call.input(1).type,
  ),
);

/** Comparisons, logic, and what chooses by them. */
export const comparisonOperators: Readonly<Record<string, OnnxOperator>> = {
  Not: elementwise(
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
    (draft, tensors) => draft.op('LogicalOr', tensors, {}, 'bool'),
    (a, b) => a || b,
  ),
  Xor: compare('NotEqual', (a, b) => a !== b),
  IsInf: isInfOperator,
  IsNaN: isNaNOperator,
  Where: where,
};
