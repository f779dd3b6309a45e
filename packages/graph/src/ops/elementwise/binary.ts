import {
  add,
  differentiate,
  div,
  ge,
  max,
  min,
  mul,
  type NumericExpr,
  score,
  sub,
} from '@tilewise/core/expr';
import { substitute } from '../../ir/program/expr.ts';
import type { GradientCall, Operation } from '../../ir/schema/operation.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { floats, port } from '../ports.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';

const numbers: readonly GraphDType[] = [...floats, 'i32'];

/** dy as the gradient by input n, summed over what that was broadcast to. */
function byInput({ builder, inputs, outputs }: GradientCall, n: number, dy: LogicalTensor): LogicalTensor {
  return builder.reduceTo(dy, builder.shapeOf(outputs[0]), builder.shapeOf(inputs[n]));
}

const isFloat = ({ dtype }: LogicalTensor): boolean => floats.includes(dtype);

/** Writes the gradient by an operand, in the shape of the result. */
type Rule = (dy: LogicalTensor, call: GradientCall) => LogicalTensor;

/** The gradients by two factors, terms, …, each from dy; of integers there is none. */
function gradients(by: readonly [Rule, Rule]): Operation['gradient'] {
  return call => {
    const [dy] = call.outputGradients;
    return by.map((rule, n) =>
      dy && isFloat(call.inputs[n]) ? () => byInput(call, n, rule(dy, call)) : null,
    );
  };
}

const same: Rule = dy => dy;
const times =
  (n: 0 | 1): Rule =>
  (dy, { builder, inputs }) =>
    builder.op('Multiply', [dy, builder.forward(inputs[n])]);

/** An operand again, in the dtype of a gradient. */
const operand = ({ builder, inputs }: GradientCall, n: number, { dtype }: LogicalTensor): LogicalTensor =>
  builder.cast(builder.forward(inputs[n]), dtype);

/** dy by operand n of what has an operation for it: from that operand, the other, and dy. */
const byBackward =
  (kind: string, n: 0 | 1): Rule =>
  (dy, call) =>
    call.builder.op(`${kind}Backward`, [operand(call, n, dy), operand(call, 1 - n, dy), dy]);

/** ∂ (a − b)² / ∂ a = 2·(a − b), where a is operand n and b the other. */
const byDifference =
  (n: 0 | 1): Rule =>
  (dy, call) => {
    const { builder } = call;
    const difference = builder.op('Subtract', [operand(call, n, dy), operand(call, 1 - n, dy)]);
    return builder.op('Multiply', [dy, builder.op('Add', [difference, difference])]);
  };

interface BinaryDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly of: (a: NumericExpr, b: NumericExpr) => NumericExpr;
  readonly commutes?: boolean;
  /** Dtypes of inputs and output, each on its own; else all three are the same float. */
  readonly mixed?: readonly GraphDType[];
  readonly gradient?: Operation['gradient'];
}

const definitions: readonly BinaryDefinition[] = [
  {
    kind: 'Add',
    summary: 'src_0 + src_1.',
    of: add,
    commutes: true,
    mixed: numbers,
    gradient: gradients([same, same]),
  },
  {
    kind: 'Subtract',
    summary: 'src_0 − src_1.',
    of: sub,
    mixed: numbers,
    gradient: gradients([same, (dy, { builder }) => builder.op('Neg', [dy])]),
  },
  {
    kind: 'Multiply',
    summary: 'src_0 · src_1.',
    of: mul,
    commutes: true,
    mixed: floats,
    gradient: gradients([times(1), times(0)]),
  },
  {
    kind: 'Divide',
    summary: 'src_0 / src_1.',
    of: div,
    mixed: floats,
    gradient: gradients([
      (dy, { builder, inputs }) => builder.op('Divide', [dy, builder.forward(inputs[1])]),
      (dy, { builder, inputs, outputs }) => {
        const product = builder.op('Multiply', [dy, builder.forward(outputs[0])]);
        return builder.op('Neg', [builder.op('Divide', [product, builder.forward(inputs[1])])]);
      },
    ]),
  },
  {
    kind: 'Maximum',
    summary: 'The larger of two.',
    of: max,
    commutes: true,
    gradient: gradients([byBackward('Maximum', 0), byBackward('Maximum', 1)]),
  },
  {
    kind: 'Minimum',
    summary: 'The smaller of two.',
    of: min,
    commutes: true,
    gradient: gradients([byBackward('Minimum', 0), byBackward('Minimum', 1)]),
  },
  {
    kind: 'SquaredDifference',
    summary: '(src_0 − src_1)².',
    of: (a, b) => mul(sub(a, b), sub(a, b)),
    gradient: gradients([byDifference(0), byDifference(1)]),
  },
];

/** The gradient by one of two operands, of which the result is one; each has half of it where they are equal. */
function choiceBackward(kind: string, of: (a: NumericExpr, b: NumericExpr) => NumericExpr): Operation {
  return elementwise({
    kind: `${kind}Backward`,
    summary: `The gradient by src of ${kind}(src, other), half of it where they are equal. Not an operation of oneDNN.`,
    inputs: [port('src', 'T'), port('other', 'T'), port('diff_dst', 'T')],
    outputs: [port('diff_src', 'T')],
    attributes: {},
    element: ([a, b, dy]) => mul(numeric(dy), numeric(substitute(differentiate(of(score, numeric(b))), a))),
  });
}

function binaryOperation({ kind, summary, of, commutes, mixed, gradient }: BinaryDefinition): Operation {
  const [T0, T1, T2] = mixed ? ['T1', 'T2', 'T3'] : ['T', 'T', 'T'];
  return elementwise({
    kind,
    summary,
    inputs: [port('src_0', T0, mixed), port('src_1', T1, mixed)],
    outputs: [port('dst', T2, mixed)],
    attributes: autoBroadcast,
    ...(commutes && { commutative: [0, 1] as const }),
    ...(gradient && { gradient }),
    element: ([a, b]) => of(numeric(a), numeric(b)),
  });
}

/** Arithmetic of two tensors, broadcast as NumPy does. */
export const binaryOperations: readonly Operation[] = [
  ...definitions.map(binaryOperation),
  elementwise({
    kind: 'GreaterEqual',
    summary: 'Whether src_0 ≥ src_1.',
    inputs: [port('src_0', 'T1', numbers), port('src_1', 'T1', numbers)],
    outputs: [port('dst', 'T2', ['bool'])],
    attributes: autoBroadcast,
    gradient: 'zero',
    element: ([a, b]) => ge(numeric(a), numeric(b)),
  }),
  choiceBackward('Maximum', max),
  choiceBackward('Minimum', min),
];
