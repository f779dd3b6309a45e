import { add, div, ge, max, min, mul, type NumericExpr, sub } from '@tilewise/core/expr';
import type { Operation } from '../schema/operation.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';
import { floats, port } from './ports.ts';

const numbers: readonly GraphDType[] = [...floats, 'i32'];

interface BinaryDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly of: (a: NumericExpr, b: NumericExpr) => NumericExpr;
  readonly commutes?: boolean;
  /** Dtypes of inputs and output, each on its own; else all three are the same float. */
  readonly mixed?: readonly GraphDType[];
}

const definitions: readonly BinaryDefinition[] = [
  { kind: 'Add', summary: 'src_0 + src_1.', of: add, commutes: true, mixed: numbers },
  { kind: 'Subtract', summary: 'src_0 − src_1.', of: sub, mixed: numbers },
  { kind: 'Multiply', summary: 'src_0 · src_1.', of: mul, commutes: true, mixed: floats },
  { kind: 'Divide', summary: 'src_0 / src_1.', of: div, mixed: floats },
  { kind: 'Maximum', summary: 'The larger of two.', of: max, commutes: true },
  { kind: 'Minimum', summary: 'The smaller of two.', of: min, commutes: true },
  {
    kind: 'SquaredDifference',
    summary: '(src_0 − src_1)².',
    of: (a, b) => mul(sub(a, b), sub(a, b)),
  },
];

function binaryOperation({ kind, summary, of, commutes, mixed }: BinaryDefinition): Operation {
  const [T0, T1, T2] = mixed ? ['T1', 'T2', 'T3'] : ['T', 'T', 'T'];
  return elementwise({
    kind,
    summary,
    inputs: [port('src_0', T0, mixed), port('src_1', T1, mixed)],
    outputs: [port('dst', T2, mixed)],
    attributes: autoBroadcast,
    ...(commutes && { commutative: [0, 1] as const }),
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
