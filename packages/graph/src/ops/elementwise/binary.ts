import {
  add,
  differentiate,
  div,
  type Expr,
  max,
  min,
  mul,
  type NumericExpr,
  pow,
  score,
  sub,
} from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { substitute } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { GradientBuilder, GradientCall, Operation } from '../../ir/schema/operation.ts';
import { floats } from '../../ir/schema/ports.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { checkShape } from '../../ir/tensor/shape.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';

/** Each tensor may have its own dtype. */
const mixedNumbers = {
  inputs: 'src_0:T1=numbers src_1:T2=numbers',
  outputs: 'dst:T3=numbers',
  attributes: autoBroadcast as typeof autoBroadcast,
} as const;
const mixedFloats = {
  inputs: 'src_0:T1 src_1:T2',
  outputs: 'dst:T3',
  attributes: autoBroadcast as typeof autoBroadcast,
} as const;
/** All tensors have one dtype. */
const sameFloats = {
  inputs: 'src_0:T src_1:T',
  outputs: 'dst:T',
  attributes: autoBroadcast as typeof autoBroadcast,
} as const;
const sameNumbers = {
  inputs: 'src_0:T=numbers src_1:T=numbers',
  outputs: 'dst:T=numbers',
  attributes: autoBroadcast as typeof autoBroadcast,
} as const;
/** The gradient of Maximum or Minimum with respect to one operand. */
const choiceBackward = { inputs: 'src:T other:T diff_dst:T', outputs: 'diff_src:T', attributes: {} } as const;

export const binarySchemas = {
  Add: mixedNumbers as typeof mixedNumbers,
  Subtract: mixedNumbers as typeof mixedNumbers,
  Multiply: mixedNumbers as typeof mixedNumbers,
  Divide: mixedFloats as typeof mixedFloats,
  Maximum: sameNumbers as typeof sameNumbers,
  Minimum: sameNumbers as typeof sameNumbers,
  Power: sameFloats as typeof sameFloats,
  SquaredDifference: sameFloats as typeof sameFloats,
  MaximumBackward: choiceBackward as typeof choiceBackward,
  MinimumBackward: choiceBackward as typeof choiceBackward,
  BiasAdd: {
    inputs: 'src:T bias:T',
    outputs: 'dst:T',
    attributes: { data_format: { type: 'string', default: 'NXC', among: ['NXC', 'NCX'] } },
  },
} as const;

/** Writes the gradient with respect to an operand, in the shape of the result. */
type Rule = (call: GradientCall<unknown>) => LogicalTensor;

/**
 * The gradients with respect to both operands, from a rule for each, summed over broadcast dimensions.
 * Integers have no gradient.
 */
function gradients(...rules: readonly [Rule, Rule]) {
  return (call: GradientCall<unknown>): readonly ((() => LogicalTensor) | null)[] => {
    const { builder, inputs, outputs } = call;
    const by = (rule: Rule, n: number): LogicalTensor =>
      builder.reduceTo(rule(call), builder.shapeOf(outputs[0]), builder.shapeOf(inputs[n]));
    return rules.map((rule, n) => (floats.includes(inputs[n].dtype) ? () => by(rule, n) : null));
  };
}

const same: Rule = ({ dy }) => dy;

const times =
  (n: 0 | 1): Rule =>
  ({ builder, inputs, dy }) =>
    builder.op('Multiply', [dy, builder.forward(inputs[n])]);

/** A forward operand in the dtype of a gradient. */
const operand = ({ builder, inputs, dy }: GradientCall<unknown>, n: number): LogicalTensor =>
  builder.cast(builder.forward(inputs[n]), dy.dtype);

/** The rule that uses a kind's backward operation, which takes operand n, the other operand, and dy. */
const byBackward =
  (kind: string, n: 0 | 1): Rule =>
  call =>
    call.builder.op(`${kind}Backward`, [operand(call, n), operand(call, 1 - n), call.dy]);

/** ∂ (a − b)² / ∂ a = 2·(a − b), where a is operand n and b the other. */
const byDifference =
  (n: 0 | 1): Rule =>
  call => {
    const { builder, dy } = call;
    const difference = builder.op('Subtract', [operand(call, n), operand(call, 1 - n)]);
    return builder.op('Multiply', [dy, builder.op('Add', [difference, difference])]);
  };

/** A tensor with 0 where all comparisons of other tensors with 0 are true. */
function zeroWhere(
  builder: GradientBuilder,
  value: LogicalTensor,
  ...tests: readonly (readonly [kind: string, of: LogicalTensor])[]
): LogicalTensor {
  const dtype = 'bool';
  const holds = tests
    .map(([kind, of]) => builder.op(kind, [of, builder.constant(0, of.dtype)], {}, { dtype }))
    .reduce((a, b) => builder.op('LogicalAnd', [a, b]));
  return builder.op('Mask', [value, holds], { invert: true });
}

type Binary = (a: NumericExpr, b: NumericExpr) => NumericExpr;

const both =
  (of: Binary) =>
  ([a, b]: readonly Expr[]): NumericExpr =>
    of(numeric(a), numeric(b));

/** The rules of Maximum or Minimum. */
const choice = (kind: 'Maximum' | 'Minimum', of: Binary) =>
  elementwise<typeof sameNumbers>({
    element: both(of),
    commutative: [0, 1],
    gradient: gradients(byBackward(kind, 0), byBackward(kind, 1)),
  });

/** dy times ∂ f(a, b) / ∂ a: half of dy where a and b are equal. */
const gradientOfChoice = (of: Binary) =>
  elementwise<typeof choiceBackward>({
    element: ([a, b, dy]) => mul(numeric(dy), numeric(substitute(differentiate(of(score, numeric(b))), a))),
  });

/** The channel dimension. */
const channelAxis = (format: 'NXC' | 'NCX', rank: number): number => (format === 'NCX' ? 1 : rank - 1);

/** Arithmetic on two tensors, which broadcast as in NumPy, and the addition of a bias to channels. */
export const binaryOperations: readonly Operation[] = defineOperations(binarySchemas, {
  /** src_0 + src_1. */
  Add: elementwise({
    element: both(add),
    commutative: [0, 1],
    gradient: gradients(same, same),
  }),
  /** src_0 − src_1. */
  Subtract: elementwise({
    element: both(sub),
    gradient: gradients(same, ({ builder, dy }) => builder.op('Neg', [dy])),
  }),
  /** src_0 · src_1. */
  Multiply: elementwise({
    element: both(mul),
    commutative: [0, 1],
    gradient: gradients(times(1), times(0)),
  }),
  /** src_0 / src_1. */
  Divide: elementwise({
    element: both(div),
    gradient: gradients(
      ({ builder, inputs, dy }) => builder.op('Divide', [dy, builder.forward(inputs[1])]),
      ({ builder, inputs, outputs, dy }) => {
        const product = builder.op('Multiply', [dy, builder.forward(outputs[0])]);
        return builder.op('Neg', [builder.op('Divide', [product, builder.forward(inputs[1])])]);
      },
    ),
  }),
  /** The larger of src_0 and src_1. */
  Maximum: choice('Maximum', max),
  /** The smaller of src_0 and src_1. */
  Minimum: choice('Minimum', min),
  /**
   * src_0 to the power src_1. A negative src_0 is valid only with integral exponents. Not an operation of
   * oneDNN.
   */
  Power: elementwise({
    element: both(pow),
    gradient: gradients(
      call => {
        const { builder, dy } = call;
        const [base, exponent] = [operand(call, 0), operand(call, 1)];
        const less = builder.op('Subtract', [exponent, builder.constant(1, dy.dtype)]);
        const slope = builder.op('Multiply', [exponent, builder.op('Power', [base, less])]);
        // x⁰ is constant, also at x = 0, where the slope would be 0·∞.
        return builder.op('Multiply', [dy, zeroWhere(builder, slope, ['Equal', exponent])]);
      },
      call => {
        const { builder, outputs, dy } = call;
        const [base, exponent] = [operand(call, 0), operand(call, 1)];
        const power = builder.cast(builder.forward(outputs[0]), dy.dtype);
        const slope = builder.op('Multiply', [power, builder.op('Log', [base])]);
        // As in PyTorch, the slope of 0ʸ is 0 for y ≥ 0.
        const tests = [
          ['Equal', base],
          ['GreaterEqual', exponent],
        ] as const;
        return builder.op('Multiply', [dy, zeroWhere(builder, slope, ...tests)]);
      },
    ),
  }),
  /** (src_0 − src_1)². */
  SquaredDifference: elementwise({
    element: both((a, b) => mul(sub(a, b), sub(a, b))),
    gradient: gradients(byDifference(0), byDifference(1)),
  }),
  /**
   * The gradient of Maximum(src, other) with respect to src: half of diff_dst where both are equal. Not an
   * operation of oneDNN.
   */
  MaximumBackward: gradientOfChoice(max),
  /**
   * The gradient of Minimum(src, other) with respect to src: half of diff_dst where both are equal. Not an
   * operation of oneDNN.
   */
  MinimumBackward: gradientOfChoice(min),
  /** Adds one bias to each channel. Channels are the last dimension for NXC, and dimension 1 for NCX. */
  BiasAdd: {
    infer: ({ attributes, inputs: [src, bias] }) => {
      const { shape } = src;
      const channels = shape && [shape[channelAxis(attributes.data_format, shape.length)]];
      checkShape('a bias of', bias.shape, channels);
      return [shape];
    },
    gradient: ({ builder, attributes, inputs: [src], dy }) => {
      const rank = builder.shapeOf(src).length;
      const channels = channelAxis(attributes.data_format, rank);
      const axes = Array.from({ length: rank }, (_, d) => d).filter(d => d !== channels);
      return [() => dy, () => (axes.length === 0 ? dy : builder.op('ReduceSum', [dy], { axes }))];
    },
    lower: ({ map, view, inputs: [src, bias], outputs: [dst] }, { attributes }) => {
      const axis = channelAxis(attributes.data_format, src.desc.shape.length);
      const shape = src.desc.shape.map((n, d) => (d === axis ? n : 1));
      const strides = shape.map((_, d) => (d === axis ? bias.desc.strides[0] : 0));
      map(add(input(0), input(1)), [src, view(bias, shape, strides)], dst);
    },
  },
});
