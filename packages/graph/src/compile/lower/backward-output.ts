import { exp, lt, mul, type NumericExpr, select, sub } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { StepOptions } from '../../ir/program/attention-step.ts';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import type { DropoutMatch } from '../../passes/attention/dropout.ts';
import type { Product } from '../../passes/attention/product.ts';
import { resultView } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';

/** The graph's dropout factor: a scalar, and an expression of that scalar. */
export interface DropoutFactor {
  readonly value: Value;
  readonly expr: NumericExpr;
}

/**
 * The graph's dropout factor relative to the kernel's 1 / (1 − p): an expression of input 1, the graph's
 * scalar.
 */
export function dropoutFactor(
  dropout: DropoutMatch | null,
  { builder, value }: MatchLowering,
): DropoutFactor | null {
  if (dropout?.scale === undefined) return null;
  const scale = builder.view(value(dropout.scale), [], []);
  return { value: scale, expr: mul(input(1), 1 - (dropout.p as number)) };
}

/** Computes a tensor elementwise from another tensor and a scalar. */
export function mapped(
  of: Value,
  scalar: Value,
  element: (x: NumericExpr) => NumericExpr,
  builder: ProgramBuilder,
): Value {
  const to = builder.temporary(of.desc.shape);
  builder.map(element(input(0)), [of, scalar], to);
  return to;
}

/**
 * The output for given stats, if the graph computes the gradient of softmax from the probabilities: Σ_j P∘dP
 * = dO·o with o = P·V. Stats that do not belong to these scores scale P, and therefore o.
 */
export function outputOf(
  { q, k, v, lse: stats }: { readonly q: Value; readonly k: Value; readonly v: Value; readonly lse: Value },
  options: StepOptions,
  builder: ProgramBuilder,
): Value {
  const [B, H, Sq] = q.desc.shape;
  const Dv = v.desc.shape[3];
  const o = builder.temporary([B, H, Sq, Dv]);
  const max = builder.temporary([B, H, Sq]);
  const sumExp = builder.temporary([B, H, Sq]);
  builder.attention({
    kind: 'sdpa',
    q: q.index,
    k: k.index,
    v: v.index,
    options,
    outDType: 'f32',
    results: { o: o.index, max: max.index, sumExp: sumExp.index },
  });
  const column = (value: Value): Value => builder.view(value, [B, H, Sq, 1], [...value.desc.strides, 0]);
  const scaled = builder.temporary([B, H, Sq, Dv]);
  // Uses max and sumExp instead of lse, because rounding lse loses the difference between large scores and
  // their stats.
  const factor = mul(input(2), exp(sub(input(1), input(3))));
  builder.map(
    select(lt(input(1), -3e38), 0, mul(input(0), factor)),
    [o, column(max), column(sumExp), column(stats)],
    scaled,
  );
  return scaled;
}

/** Writes the output of attention to the graph's tensor, for other readers. */
export function writeOutput(
  { matmul, transposed: swap }: Product,
  o: Value,
  factor: DropoutFactor | null,
  { builder, result }: MatchLowering,
): void {
  const stored = result(matmul.outputs[0].id);
  const target = resultView(builder, swap ? builder.transposed(stored) : stored, o.desc.shape);
  if (factor) builder.map(mul(input(0), factor.expr), [o, factor.value], target.to);
  else builder.copy(o, target.to);
  target.finish();
}
