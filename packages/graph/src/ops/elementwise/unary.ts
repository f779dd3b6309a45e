import {
  abs,
  add,
  cos,
  differentiate,
  div,
  erf,
  exp,
  ge,
  gt,
  le,
  log,
  lt,
  max,
  min,
  mul,
  type NumericExpr,
  neg,
  pow,
  round,
  score,
  select,
  sin,
  sqrt,
  sub,
  tanh,
} from '@tilewise/core/expr';
import { substitute } from '../../ir/program/expr.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { defineOperation } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { ResolvedAttributes } from '../../ir/schema/schema.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';

const required = { type: 'f32', required: true } as const;

/** The attributes of each function of one tensor, by kind. */
const unaryAttributes = {
  Abs: {},
  Cos: {},
  Clamp: { min: required as typeof required, max: required as typeof required },
  Elu: { alpha: required as typeof required },
  Erf: {},
  Exp: {},
  GELU: { mode: { type: 'string', default: 'gelu_erf', among: ['gelu_erf', 'gelu_tanh'] } },
  HardSigmoid: { alpha: required as typeof required, beta: required as typeof required },
  HardSwish: {},
  LeakyReLU: { alpha: required as typeof required },
  Log: {},
  Mish: {},
  Pow: { beta: required as typeof required },
  Neg: {},
  ReLU: {},
  Reciprocal: {},
  Round: {},
  SiLU: {},
  Sigmoid: {},
  Sin: {},
  SoftPlus: { beta: { type: 'f32', default: 1 } },
  Sqrt: {},
  Square: {},
  Tanh: {},
} as const;

type Table = typeof unaryAttributes;

/** The schemas of the functions and of their gradients. */
export type UnarySchemas = {
  readonly [K in keyof Table]: {
    readonly inputs: 'src:T';
    readonly outputs: 'dst:T';
    readonly attributes: Table[K];
  };
} & {
  readonly [K in keyof Table as `${K}Backward`]: {
    readonly inputs: 'src:T diff_dst:T';
    readonly outputs: 'diff_src:T';
    readonly attributes: Table[K];
  };
};

/** A function as an expression of x and the attributes. */
type Definition<K extends keyof Table> = (
  x: NumericExpr,
  attributes: ResolvedAttributes<Table[K]>,
) => NumericExpr;

/**
 * 1 / (1 + e^(−x)), and 0 below −80, so that the product with a large negative x is 0 too. The exponent is
 * limited to 80: e^80 is finite in f32, which the gradient of e^(−x) needs.
 */
const sigmoid = (x: NumericExpr): NumericExpr => select(lt(x, -80), 0, div(1, add(1, exp(min(neg(x), 80)))));
/** max(x, 0), with PyTorch's slope at 0, which is 0; that of `max` is 1/2. NaN stays NaN. */
const relu = (x: NumericExpr): NumericExpr => select(le(x, 0), 0, x);
/** ln(1 + eˣ), without overflow. */
const softplus = (x: NumericExpr): NumericExpr => add(max(x, 0), log(add(1, exp(neg(abs(x))))));

function gelu(x: NumericExpr, { mode }: ResolvedAttributes<Table['GELU']>): NumericExpr {
  const inner =
    mode === 'gelu_tanh'
      ? tanh(mul(Math.sqrt(2 / Math.PI), add(x, mul(0.044715, mul(x, mul(x, x))))))
      : erf(mul(x, Math.SQRT1_2));
  return mul(mul(0.5, x), add(1, inner));
}

const definitions: { readonly [K in keyof Table]: Definition<K> } = {
  /** |x|. */
  Abs: abs,
  /** x clamped to [min, max]. */
  // With min above max, the result is max. At the bounds, the slope is 1. Both are as in PyTorch's clamp.
  Clamp: (x, a) => select(lt(x, a.min), Math.min(a.min, a.max), select(gt(x, a.max), a.max, x)),
  /** The cosine of x radians. Not an operation of oneDNN. */
  Cos: cos,
  /** x where x > 0, else alpha·(eˣ − 1). */
  Elu: (x, { alpha }) => select(gt(x, 0), x, mul(alpha, sub(exp(sub(x, relu(x))), 1))),
  /** The error function 2/√π ∫₀ˣ e^(−t²) dt. Not an operation of oneDNN. */
  Erf: erf,
  /** eˣ. */
  Exp: exp,
  /**
   * x·Φ(x), where Φ is the normal distribution function (gelu_erf) or its approximation by tanh (gelu_tanh).
   */
  GELU: gelu,
  /** alpha·x + beta, clamped to [0, 1]. */
  HardSigmoid: (x, { alpha, beta }) => {
    const line = add(mul(alpha, x), beta);
    return select(ge(line, 1), 1, relu(line));
  },
  /** x·min(max(x + 3, 0), 6) / 6. */
  HardSwish: x => div(mul(x, select(ge(x, 3), 6, relu(add(x, 3)))), 6),
  /** x where x > 0, else alpha·x. */
  LeakyReLU: (x, { alpha }) => select(gt(x, 0), x, mul(alpha, x)),
  /** The natural logarithm. */
  Log: log,
  /** x·tanh(ln(1 + eˣ)). */
  Mish: x => mul(x, tanh(softplus(x))),
  /** x to the power beta. */
  Pow: (x, { beta }) => pow(x, beta),
  /** −x. Not an operation of oneDNN. */
  Neg: neg,
  /** max(x, 0). */
  ReLU: relu,
  /** 1 / x. */
  Reciprocal: x => div(1, x),
  /** x rounded to the nearest integer, ties to even. */
  Round: round,
  /** x / (1 + e^(−x)), also called swish. Not an operation of oneDNN. */
  SiLU: x => mul(x, sigmoid(x)),
  /** 1 / (1 + e^(−x)). */
  Sigmoid: sigmoid,
  /** ln(1 + e^(beta·x)) / beta. */
  SoftPlus: (x, { beta }) => div(softplus(mul(beta, x)), beta),
  /** The sine of x radians. Not an operation of oneDNN. */
  Sin: sin,
  /** √x. */
  Sqrt: sqrt,
  /** x². */
  Square: x => mul(x, x),
  /** The hyperbolic tangent. */
  Tanh: tanh,
};

function unary<K extends keyof Table>(kind: K): readonly Operation[] {
  const of = definitions[kind];
  type Schema = UnarySchemas['Abs'] & { readonly attributes: Table[K] };
  const attributes = unaryAttributes[kind];
  return [
    defineOperation<Schema>(
      kind,
      { inputs: 'src:T', outputs: 'dst:T', attributes } as Schema,
      elementwise<Schema>({
        element: ([x], a) => of(numeric(x), a),
        gradient: ({ builder, attributes: a, inputs: [src], dy }) => {
          const x = (): LogicalTensor => builder.cast(builder.forward(src), dy.dtype);
          return [() => builder.op(`${kind}Backward`, [x(), dy], a as Attributes)];
        },
      }),
    ),
    defineOperation(
      `${kind}Backward`,
      { inputs: 'src:T diff_dst:T', outputs: 'diff_src:T', attributes },
      elementwise({
        element: ([x, dy], a) => mul(numeric(dy), numeric(substitute(differentiate(of(score, a)), x))),
      }),
    ),
  ];
}

/** Functions of one tensor, and their gradients. */
export const unaryOperations: readonly Operation[] = (
  Object.keys(unaryAttributes) as (keyof Table)[]
).flatMap(unary);
