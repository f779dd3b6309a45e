import { type Shape, sameShape } from '@tilewise/core';
import { lt, mul, select } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { StepDropout, StepRounding } from '../../ir/program/attention-step.ts';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import { flagOf, numbersOf } from '../../ir/schema/attribute.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import { reduceAxes } from '../../ops/reduction/reduce.ts';
import type { DropoutMatch } from '../../passes/attention/dropout.ts';
import type { ForwardParts } from '../../passes/attention/forward.ts';
import type { RoundingMatch } from '../../passes/attention/rounding.ts';
import type { ScoreChain } from '../../passes/attention/score-chain.ts';
import { asHeads, type HeadLayout, headLayout, resultView } from './heads.ts';
import { isPerScore, type MatchLowering } from './match-lowering.ts';
import { isScalar } from './operand-reader.ts';
import { scoreProgram } from './score-program.ts';

const dimensionsMoved = 'the dimensions of P are reordered before the product P·v';
const notRounded = 'P is not quantized by one scale > 0 with one zero point in both directions';
const droppedBefore = 'the dropout factor multiplies P before P is quantized';

/** Why a forward pass cannot be an attention call, whatever its shapes are; null if it may be one. */
export function notForward({ after }: ForwardParts): string | null {
  if (after.rearranged) return dimensionsMoved;
  if (after.rounding?.rounding === null) return notRounded;
  return after.rounding && after.dropout?.scale !== undefined ? droppedBefore : null;
}

/** Writes a forward pass as one attention call; false if its shapes do not fit one. */
export function lowerForward({ chain, softmax, after }: ForwardParts, lowering: MatchLowering): boolean {
  const { builder } = lowering;
  const scores = lowering.desc(chain.matmul.outputs[0].id).shape;
  if (axisOf(softmax.axis, scores.length) !== scores.length - 1 || scores.length < 2) return false;
  const layout = headLayout(scores);
  const operands = queriesAndKeys(chain, layout, lowering);
  const product = lowering.result(after.matmul.outputs[0].id);
  // v must not have more heads or batch entries than the scores.
  if (!operands || !sameShape(product.desc.shape.slice(0, -2), layout.batch)) return false;
  if (after.dropout && !isPerScore(after.dropout, scores, lowering)) return false;
  const program = scoreProgram(chain, layout, lowering);
  if (!program) return false;

  const values = lowering.value(after.matmul.inputs[after.transposed ? 0 : 1].id);
  const isColumns = flagOf(after.matmul.attributes, after.transposed ? 'transpose_a' : 'transpose_b');
  const rows = isColumns !== after.transposed ? builder.transposed(values) : values;
  const v = asHeads(builder, rows, layout, 'grouped');
  const o = after.transposed ? builder.transposed(product) : product;
  const [Sq, Dv] = o.desc.shape.slice(-2);
  const target = resultView(builder, o, [layout.B, layout.H, Sq, Dv]);
  const factor = after.dropout?.scale === undefined ? null : after.dropout;
  const to = factor ? builder.temporary(target.to.desc.shape) : target.to;
  const lse = softmax.stats === undefined ? null : builder.temporary([layout.B, layout.H, Sq]);
  const rounded = after.rounding && stepRounding(after.rounding, scores, lowering);
  if (rounded === 'unfit') return false;
  builder.attention({
    kind: 'sdpa',
    q: operands.q.index,
    k: operands.k.index,
    v: v.index,
    options: {
      ...program,
      ...(after.dropout && { dropout: stepDropout(after.dropout, lowering) }),
      ...(rounded && { rounding: rounded.rounding }),
    },
    outDType: to.desc.dtype,
    results: { o: to.index, ...(lse && { lse: lse.index }), ...rounded?.results },
  });
  if (factor?.scale !== undefined) {
    // The kernel multiplies by 1 / (1 − p), but the graph has its own factor.
    const scale = builder.view(lowering.value(factor.scale), [], []);
    builder.map(mul(input(0), mul(input(1), 1 - (factor.p as number))), [to, scale], target.to);
  }
  target.finish();
  if (lse && softmax.stats !== undefined) storeStats(lse, lowering.result(softmax.stats), layout, builder);
  return true;
}

/**
 * How a call rounds P, and the value of the maximum of P; `unfit` if the factor is not a scalar, or the
 * maximum is not over all elements.
 */
function stepRounding(
  { rounding, factor, largest }: RoundingMatch,
  scores: Shape,
  { builder, value, result }: MatchLowering,
): { readonly rounding: StepRounding; readonly results: { readonly amaxS?: number } } | 'unfit' {
  const one = (of: Value): number => builder.view(of, [1], [1]).index;
  const scalar = factor === null ? null : value(factor);
  const isOfAll =
    !largest || reduceAxes(numbersOf(largest.node.attributes, 'axes'), scores).length === scores.length;
  if (!rounding || !isOfAll || (scalar && !(isScalar(scalar.desc.shape) && scalar.desc.dtype === 'f32')))
    return 'unfit';
  return {
    rounding: { ...rounding, ...(scalar && { factor: one(scalar) }) },
    results: largest ? { amaxS: one(result(largest.result)) } : {},
  };
}

/** q and k of the first product as (B, H, S, D). */
export function queriesAndKeys(
  { matmul }: ScoreChain,
  layout: HeadLayout,
  lowering: MatchLowering,
): { readonly q: Value; readonly k: Value } | null {
  const { builder } = lowering;
  const [a, b] = matmul.inputs.map(t => lowering.value(t.id));
  if (a.desc.shape.length < 2 || b.desc.shape.length < 2) return null;
  const q = flagOf(matmul.attributes, 'transpose_a') ? builder.transposed(a) : a;
  const k = flagOf(matmul.attributes, 'transpose_b') ? b : builder.transposed(b);
  return { q: asHeads(builder, q, layout, 'exact'), k: asHeads(builder, k, layout, 'grouped') };
}

/** A dropout match as an option of the step. */
export function stepDropout({ seed, offset, p }: DropoutMatch, lowering: MatchLowering): StepDropout {
  return {
    seed: lowering.value(seed).index,
    offset: lowering.value(offset).index,
    p: typeof p === 'number' ? p : { value: lowering.value(p.tensor).index },
  };
}

/** Stores lse as the graph's stats, which are 0 for a row without visible keys, where lse is −∞. */
function storeStats(lse: Value, stats: Value, { B, H }: HeadLayout, builder: ProgramBuilder): void {
  const Sq = lse.desc.shape[2];
  const target = resultView(builder, stats, [B, H, Sq]);
  builder.map(select(lt(input(0), -3e38), 0, input(0)), [lse], target.to);
  target.finish();
}
