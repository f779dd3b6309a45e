import {
  abs,
  add,
  differentiate,
  div,
  erf,
  exp,
  ge,
  gt,
  log,
  max,
  min,
  mul,
  type NumericExpr,
  neg,
  pow,
  round,
  score,
  select,
  sqrt,
  sub,
  tanh,
} from '@tilewise/core/expr';
import { substitute } from '../../ir/program/expr.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { numberOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { port } from '../ports.ts';
import { elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';

interface UnaryDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly of: (x: NumericExpr, attributes: Attributes) => NumericExpr;
  readonly attributes?: Operation['attributes'];
}

const sigmoid = (x: NumericExpr): NumericExpr => div(1, add(1, exp(neg(x))));
/** ln(1 + eˣ), without overflow. */
const softplus = (x: NumericExpr): NumericExpr => add(max(x, 0), log(add(1, exp(neg(abs(x))))));

function gelu(x: NumericExpr, { mode }: Attributes): NumericExpr {
  const inner =
    mode === 'gelu_tanh'
      ? tanh(mul(Math.sqrt(2 / Math.PI), add(x, mul(0.044715, mul(x, mul(x, x))))))
      : erf(mul(x, Math.SQRT1_2));
  return mul(mul(0.5, x), add(1, inner));
}

const f32 = { type: 'f32' } as const;

const definitions: readonly UnaryDefinition[] = [
  { kind: 'Abs', summary: '|x|.', of: abs },
  {
    kind: 'Clamp',
    summary: 'x brought into [min, max].',
    attributes: { min: { ...f32, required: true }, max: { ...f32, required: true } },
    of: (x, a) => min(max(x, numberOf(a, 'min')), numberOf(a, 'max')),
  },
  {
    kind: 'Elu',
    summary: 'x where x > 0, else alpha·(eˣ − 1).',
    attributes: { alpha: { ...f32, required: true } },
    of: (x, a) => select(gt(x, 0), x, mul(numberOf(a, 'alpha'), sub(exp(min(x, 0)), 1))),
  },
  { kind: 'Exp', summary: 'eˣ.', of: exp },
  {
    kind: 'GELU',
    summary: 'x·Φ(x), Φ the normal distribution (gelu_erf) or its approximation by tanh (gelu_tanh).',
    attributes: { mode: { type: 'string', default: 'gelu_erf', among: ['gelu_erf', 'gelu_tanh'] } },
    of: gelu,
  },
  {
    kind: 'HardSigmoid',
    summary: 'alpha·x + beta brought into [0, 1].',
    attributes: { alpha: { ...f32, required: true }, beta: { ...f32, required: true } },
    of: (x, a) => max(0, min(1, add(mul(numberOf(a, 'alpha'), x), numberOf(a, 'beta')))),
  },
  {
    kind: 'HardSwish',
    summary: 'x·min(max(x + 3, 0), 6) / 6.',
    of: x => div(mul(x, min(max(add(x, 3), 0), 6)), 6),
  },
  {
    kind: 'LeakyReLU',
    summary: 'x where x ≥ 0, else alpha·x.',
    attributes: { alpha: { ...f32, required: true } },
    of: (x, a) => select(ge(x, 0), x, mul(numberOf(a, 'alpha'), x)),
  },
  { kind: 'Log', summary: 'Natural logarithm.', of: log },
  { kind: 'Mish', summary: 'x·tanh(ln(1 + eˣ)).', of: x => mul(x, tanh(softplus(x))) },
  {
    kind: 'Pow',
    summary: 'x to the power beta.',
    attributes: { beta: { ...f32, required: true } },
    of: (x, a) => pow(x, numberOf(a, 'beta')),
  },
  { kind: 'Neg', summary: '−x. Not an operation of oneDNN.', of: neg },
  { kind: 'ReLU', summary: 'max(x, 0).', of: x => max(x, 0) },
  { kind: 'Reciprocal', summary: '1 / x.', of: x => div(1, x) },
  { kind: 'Round', summary: 'The nearest integer, the even one of two that are as near.', of: round },
  {
    kind: 'SiLU',
    summary: 'x / (1 + e^(−x)), also called swish. Not an operation of oneDNN.',
    of: x => mul(x, sigmoid(x)),
  },
  { kind: 'Sigmoid', summary: '1 / (1 + e^(−x)).', of: sigmoid },
  {
    kind: 'SoftPlus',
    summary: 'ln(1 + e^(beta·x)) / beta.',
    attributes: { beta: { ...f32, default: 1 } },
    of: (x, a) => div(softplus(mul(numberOf(a, 'beta'), x)), numberOf(a, 'beta')),
  },
  { kind: 'Sqrt', summary: '√x.', of: sqrt },
  { kind: 'Square', summary: 'x².', of: x => mul(x, x) },
  { kind: 'Tanh', summary: 'Hyperbolic tangent.', of: tanh },
];

/** Functions of one tensor, and the gradients by it. */
export const unaryOperations: readonly Operation[] = definitions.flatMap(
  ({ kind, summary, of, attributes = {} }) => [
    elementwise({
      kind,
      summary,
      inputs: [port('src', 'T')],
      outputs: [port('dst', 'T')],
      attributes,
      element: ([x], a) => of(numeric(x), a),
      gradient: ({ builder, attributes: a, inputs: [src], outputGradients: [dy] }) => [
        dy
          ? () => builder.op(`${kind}Backward`, [builder.cast(builder.forward(src), dy.dtype), dy], a)
          : null,
      ],
    }),
    elementwise({
      kind: `${kind}Backward`,
      summary: `The gradient by src of ${kind}, from src and the gradient by its result.`,
      inputs: [port('src', 'T'), port('diff_dst', 'T')],
      outputs: [port('diff_src', 'T')],
      attributes,
      element: ([x, dy], a) => mul(numeric(dy), numeric(substitute(differentiate(of(score, a)), x))),
    }),
  ],
);
