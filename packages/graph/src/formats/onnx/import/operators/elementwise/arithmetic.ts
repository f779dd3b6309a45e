import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { type Draft, isFloat } from '../../draft.ts';
import { isInteger } from '../../file/element-type.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { staticNumbers } from '../../value.ts';
import { clip } from './clip.ts';
import { divideIntegers } from './divide-integers.ts';
import { type Emit, elementwise, same, unary } from './elementwise.ts';
import { wrapping } from './wrapping.ts';

/** The nearest integer, corrected by one if it is beyond x. */
const rounded =
  (beyond: 'Greater' | 'Less', correct: 'Subtract' | 'Add'): Emit =>
  (draft, [x]) => {
    const nearest = draft.op('Round', [x]);
    return draft.op(correct, [nearest, draft.cast(draft.test(beyond, nearest, x), x.dtype)]);
  };

/** A function of two numbers, with the graph's operation of the same meaning. */
const binary = (kind: string, apply: (a: number, b: number, call: NodeCall) => number): OnnxOperator =>
  elementwise(2, ([a, b], call) => apply(a, b, call), wrapping(same(kind)));

/** A product; for integers that wrap around, at least the lower 32 bits are correct. */
const product = (a: number, b: number, call: NodeCall): number => {
  const whole = a * b;
  const { type } = call.input(0);
  return isInteger(type) && type.bits <= 32 && !Number.isSafeInteger(whole) ? Math.imul(a, b) : whole;
};

/** a · b. Exporters write factors of 1, which would hide attention from its pattern. */
const times: Emit = (draft, [a, b], call) => {
  const isOne = (n: number): boolean => {
    const value = call.input(n);
    return elementCount(value.shape) === 1 && staticNumbers(value)?.[0] === 1;
  };
  if (isOne(1)) return a;
  return isOne(0) ? b : draft.op('Multiply', [a, b]);
};

const quotient: Emit = (draft, [a, b], call) => {
  if (!isInteger(call.input(0).type)) return draft.op('Divide', [a, b]);
  return draft.cast(divideIntegers(draft, a, b).quotient, a.dtype);
};

/** a − b·q, where q is a / b, rounded towards 0 with `fmod` and down without it. */
const modulo: Emit = (draft, [a, b], call) => {
  const towardsZero = call.flag('fmod', false);
  if (isInteger(call.input(0).type)) {
    const { remainder, floorRemainder } = divideIntegers(draft, a, b);
    return draft.cast(towardsZero ? remainder : floorRemainder, a.dtype);
  }
  const [x, y] = [draft.cast(a, 'f32'), draft.cast(b, 'f32')];
  const ratio = draft.op('Divide', [x, y]);
  const down = rounded('Greater', 'Subtract')(draft, [ratio], call);
  const up = rounded('Less', 'Add')(draft, [ratio], call);
  const isNegative = draft.test('Less', ratio, draft.scalar(0, 'f32'));
  const whole = draft.select(isNegative, up, down);
  // A divisor larger than x, such as an infinity, leaves x unchanged.
  const isBeyond = draft.test('Less', draft.op('Abs', [x]), draft.op('Abs', [y]));
  const rest = draft.select(isBeyond, x, draft.op('Subtract', [x, draft.op('Multiply', [whole, y])]));
  if (towardsZero) return draft.cast(rest, a.dtype);
  const isOpposite = draft.test('Less', draft.op('Multiply', [rest, y]), draft.scalar(0, 'f32'));
  return draft.cast(draft.select(isOpposite, draft.op('Add', [rest, y]), rest), a.dtype);
};

/** An operator on more than two terms, which are combined pair by pair. */
const pairwise =
  (kind: string): Emit =>
  (draft, tensors) =>
    tensors.reduce((sum, next) => draft.op(kind, [sum, next]));

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b);

/** −x. The graph's operation Neg accepts only floats. */
const negated = (draft: Draft, x: LogicalTensor): LogicalTensor =>
  isFloat(x) ? draft.op('Neg', [x]) : draft.op('Subtract', [draft.scalar(0, x.dtype), x]);

/** |x|. The graph's operation Abs accepts only floats. */
export const absolute = (draft: Draft, x: LogicalTensor): LogicalTensor =>
  isFloat(x) ? draft.op('Abs', [x]) : draft.op('Maximum', [x, negated(draft, x)]);

/** x^y. A known exponent becomes an attribute; 2 and 0.5 become Square and Sqrt. */
const power: Emit = (draft, [x, y], call) => {
  const exponent = staticNumbers(call.input(1));
  const value = exponent?.length === 1 ? exponent[0] : undefined;
  if (value === 1) return x;
  if (value === 2) return isFloat(x) ? draft.op('Square', [x]) : draft.op('Multiply', [x, x]);
  if (value === 0.5) return draft.op('Sqrt', [x]);
  const base = isFloat(x) ? x : draft.cast(x, 'f32');
  const made =
    value === undefined
      ? draft.op('Power', [draft.cast(x, 'f32'), draft.cast(y, 'f32')])
      : draft.op('Pow', [base], { beta: value });
  // A power of integers is an integer, which f32 may miss by its last bit.
  return isFloat(x) || !isInteger(call.input(1).type) ? made : draft.op('Round', [made]);
};

/** Arithmetic and functions of real numbers. */
export const arithmeticOperators: Readonly<Record<string, OnnxOperator>> = {
  Abs: elementwise(
    1,
    ([x]) => Math.abs(x),
    wrapping((draft, [x]) => absolute(draft, x)),
  ),
  Neg: elementwise(
    1,
    ([x]) => -x,
    wrapping((draft, [x]) => negated(draft, x)),
  ),
  Sqrt: unary('Sqrt', Math.sqrt),
  Exp: unary('Exp', Math.exp),
  Log: unary('Log', Math.log),
  Sin: unary('Sin', Math.sin),
  Cos: unary('Cos', Math.cos),
  Tanh: unary('Tanh', Math.tanh),
  Reciprocal: unary('Reciprocal', x => 1 / x),
  Sigmoid: unary('Sigmoid', x => 1 / (1 + Math.exp(-x))),
  Relu: elementwise(
    1,
    ([x]) => Math.max(0, x),
    (draft, [x]) => (isFloat(x) ? draft.op('ReLU', [x]) : draft.op('Maximum', [x, draft.scalar(0, x.dtype)])),
  ),
  Softplus: unary('SoftPlus', x => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))),
  Floor: elementwise(1, ([x]) => Math.floor(x), rounded('Greater', 'Subtract')),
  Ceil: elementwise(1, ([x]) => Math.ceil(x), rounded('Less', 'Add')),
  Round: unary('Round', x => (Math.abs(x - Math.trunc(x)) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x))),
  Add: binary('Add', (a, b) => a + b),
  Sub: binary('Subtract', (a, b) => a - b),
  Mul: elementwise(2, ([a, b], call) => product(a, b, call), wrapping(times)),
  // Integer division rounds towards 0, as in ONNX.
  Div: elementwise(
    2,
    ([a, b], call) => (isInteger(call.input(0).type) ? Math.trunc(a / b) : a / b),
    quotient,
  ),
  Mod: elementwise(
    2,
    ([a, b], call) => {
      const rest = a % b;
      return !call.flag('fmod', false) && rest * b < 0 ? rest + b : rest;
    },
    modulo,
  ),
  Pow: elementwise(2, ([a, b]) => a ** b, power),
  Sum: elementwise(1, sum, pairwise('Add')),
  Mean: elementwise(
    1,
    numbers => sum(numbers) / numbers.length,
    (draft, tensors, call) =>
      draft.op('Divide', [
        pairwise('Add')(draft, tensors, call),
        draft.scalar(tensors.length, call.input(0).type.dtype),
      ]),
  ),
  Max: elementwise(1, numbers => numbers.reduce((a, b) => Math.max(a, b)), pairwise('Maximum')),
  Min: elementwise(1, numbers => numbers.reduce((a, b) => Math.min(a, b)), pairwise('Minimum')),
  Clip: clip,
};
