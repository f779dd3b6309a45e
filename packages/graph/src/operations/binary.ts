import { add, div, ge, max, min, mul, type NumericExpr, sub } from '@tilewise/core/expr';
import type { GradientCall, Operation } from '../schema/operation.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';
import { floats, port } from './ports.ts';

const numbers: readonly GraphDType[] = [...floats, 'i32'];

/** dy as the gradient by input n, summed over what that was broadcast to. */
function byInput({ builder, inputs, outputs }: GradientCall, n: number, dy: LogicalTensor): LogicalTensor {
  return builder.reduceTo(dy, builder.shapeOf(outputs[0]), builder.shapeOf(inputs[n]));
}

const isFloat = ({ dtype }: LogicalTensor): boolean => floats.includes(dtype);

/** The gradients by two factors, terms, …, each from dy; of integers there is none. */
function gradients(
  by: readonly [
    (dy: LogicalTensor, call: GradientCall) => LogicalTensor,
    (dy: LogicalTensor, call: GradientCall) => LogicalTensor,
  ],
): Operation['gradient'] {
  return call => {
    const [dy] = call.outputGradients;
    return by.map((rule, n) =>
      dy && isFloat(call.inputs[n]) ? () => byInput(call, n, rule(dy, call)) : null,
    );
  };
}

const same = (dy: LogicalTensor): LogicalTensor => dy;
const times =
  (n: 0 | 1) =>
  (dy: LogicalTensor, { builder, inputs }: GradientCall): LogicalTensor =>
    builder.op('Multiply', [dy, builder.forward(inputs[n])]);

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
  { kind: 'Maximum', summary: 'The larger of two.', of: max, commutes: true },
  { kind: 'Minimum', summary: 'The smaller of two.', of: min, commutes: true },
  {
    kind: 'SquaredDifference',
    summary: '(src_0 − src_1)².',
    of: (a, b) => mul(sub(a, b), sub(a, b)),
  },
];

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
    element: ([a, b]) => ge(numeric(a), numeric(b)),
  }),
];
