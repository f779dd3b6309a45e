import { type Shape, sameShape } from '@tilewise/core';
import { lt, mul, select } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import type { StepDropout, StepRounding } from '../lowering/attention-step.ts';
import type { Value } from '../lowering/lowering.ts';
import { transposed } from '../lowering/views.ts';
import { reduceAxes } from '../operations/reduce.ts';
import type { Match, MatchLowering } from '../partition/match.ts';
import { flagOf, numbersOf } from '../schema/attribute.ts';
import { axisOf } from '../shape/broadcast.ts';
import { absorbAfter, absorbBefore, layoutKinds } from './absorb.ts';
import { comeFromOutside, isClosed } from './closed.ts';
import { type DropoutMatch, dropoutOperands, isPerScore } from './dropout-of.ts';
import { asHeads, type HeadLayout, headLayout, resultView } from './heads.ts';
import { lowerAround } from './lower-around.ts';
import { isScalar } from './operand-reader.ts';
import { type Probabilities, probabilitiesOf } from './probabilities.ts';
import type { RoundingMatch } from './rounding-of.ts';
import { type ScoreChain, scoreChain } from './score-chain.ts';
import { scoreProgram } from './score-program.ts';
import { type SoftmaxMatch, softmaxOf } from './softmax-of.ts';

/** The operations of a forward pass, by their roles. */
export interface ForwardParts {
  readonly chain: ScoreChain;
  readonly softmax: SoftmaxMatch;
  readonly after: Probabilities;
  /** What makes operands of what they are stored as. */
  readonly before: readonly GraphNode[];
  /** What stores the result, the stats and the largest probability otherwise. */
  readonly tails: readonly GraphNode[];
  readonly nodes: ReadonlySet<GraphNode>;
}

/**
 * Attention, inference or the forward pass of training, around its softmax:
 *
 *     MatMul · score chain · softmax · [TypeCast] [dropout] [[Multiply] Quantize · Dequantize] [TypeCast] · MatMul · stored
 *     MatMul · score chain · softmax · StaticTranspose [StaticReshape] [Reorder] · MatMul (as its second operand) · stored
 *
 * Operands may be stored in another layout or quantized before, and the result after: [layout, TypeCast, Quantize]*. `stats` of the
 * softmax may be a result, and so may the largest of what is quantized.
 */
export function forwardParts(anchor: GraphNode, topology: Topology): ForwardParts | null {
  const softmax = softmaxOf(anchor, topology);
  const chain = softmax && scoreChain(softmax.scores, topology);
  const after = softmax && chain && probabilitiesOf(softmax.probabilities, topology);
  if (!after) return null;
  const product = after.matmul.outputs[0].id;
  const core = new Set([...chain.nodes, ...softmax.nodes, ...after.nodes, after.matmul]);
  const tail = absorbAfter(product, topology);
  const { largest, factor } = after.rounding ?? { largest: null, factor: null };
  const largestTail = largest && absorbAfter(largest.result, topology, layoutKinds);
  const statsTail = softmax.stats === undefined ? null : absorbAfter(softmax.stats, topology, layoutKinds);
  const [q, k] = chain.matmul.inputs;
  const v = after.matmul.inputs[after.transposed ? 0 : 1];
  const operands = [q, k, v, ...[...chain.nodes].flatMap(node => node.inputs)].map(t => t.id);
  const before = absorbBefore(operands, core, topology);
  // Values may be the scores themselves, where there are as many keys as channels; no call has them.
  const others = [
    ...[v.id, ...(after.dropout ? dropoutOperands(after.dropout) : [])],
    ...(factor === null ? [] : [factor]),
  ];
  const entering = [...others, ...before.flatMap(node => node.inputs.map(t => t.id))];
  if (!comeFromOutside(entering, core, topology)) return null;
  const ends = [tail, ...[statsTail, largestTail].filter(own => own !== null)];
  const tails = ends.flatMap(own => own.nodes);
  const nodes = new Set([...before, ...core, ...tails]);
  if (!isClosed(nodes, new Set(ends.map(own => own.result)), topology)) return null;
  return { chain, softmax, after, before, tails, nodes };
}

/** The forward pass of attention; see `forwardParts` for what it looks like. */
export function attentionForward(anchor: GraphNode, topology: Topology): Match | null {
  const parts = forwardParts(anchor, topology);
  if (!parts) return null;
  const { softmax, after, before, tails, nodes } = parts;
  const hasStats = softmax.stats !== undefined;
  return {
    kind: after.rounding ? 'quantized-sdpa' : hasStats ? 'sdpa-training' : 'sdpa',
    nodes,
    lower: lowering => {
      if (after.rearranged) return { reason: dimensionsMoved };
      if (after.rounding?.rounding === null) return { reason: notRounded };
      if (after.rounding && after.dropout?.scale !== undefined) return { reason: droppedBefore };
      lowerAround(before, lowering);
      if (!lowerForward(parts, lowering, topology)) return shapesDoNotFit;
      lowerAround(tails, lowering);
      return 'written';
    },
  };
}

const dimensionsMoved =
  'the probabilities go into the product with the values in another order of their dimensions';
const notRounded =
  'the probabilities are quantized otherwise than by one scale > 0 for all and the same zero point on both ways';
const droppedBefore =
  'dropout has a factor of its own, by which probabilities are multiplied before they are quantized';

/** Why operations that look like attention are not one attention problem. */
export const shapesDoNotFit: { readonly reason: string } = {
  reason: 'the shapes are not those of one attention problem over (B, H, S, D)',
};

function lowerForward(
  { chain, softmax, after }: ForwardParts,
  lowering: MatchLowering,
  topology: Topology,
): boolean {
  const { builder } = lowering;
  const scores = lowering.desc(chain.matmul.outputs[0].id).shape;
  if (axisOf(softmax.axis, scores.length) !== scores.length - 1 || scores.length < 2) return false;
  const layout = headLayout(scores);
  const operands = queriesAndKeys(chain, layout, lowering);
  const product = lowering.result(after.matmul.outputs[0].id);
  // Values of more heads or batch entries than the scores have no scores of their own.
  if (!operands || !sameShape(product.desc.shape.slice(0, -2), layout.batch)) return false;
  if (after.dropout && !isPerScore(after.dropout, scores, lowering)) return false;
  const program = scoreProgram(chain, layout, scores, lowering, topology);
  if (!program) return false;

  const values = lowering.value(after.matmul.inputs[after.transposed ? 0 : 1].id);
  const isColumns = flagOf(after.matmul.attributes, after.transposed ? 'transpose_a' : 'transpose_b');
  const v = asHeads(
    builder,
    isColumns !== after.transposed ? transposed(builder, values) : values,
    layout,
    'grouped',
  );
  const o = after.transposed ? transposed(builder, product) : product;
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
    // The kernel has multiplied by 1 / (1 − p), the graph says by what.
    const scale = builder.view(lowering.value(factor.scale), [], []);
    builder.map(mul(input(0), mul(input(1), 1 - (factor.p as number))), [to, scale], target.to);
  }
  target.finish();
  if (lse && softmax.stats !== undefined) storeStats(lse, lowering.result(softmax.stats), layout, builder);
  return true;
}

/** How a call rounds P, and where it leaves the largest of it; `unfit` where the factor is not one for all, or the largest not of all. */
function stepRounding(
  { rounding, factor, largest }: RoundingMatch,
  scores: Shape,
  { builder, value, result }: MatchLowering,
): { readonly rounding: StepRounding; readonly results: { readonly amaxS?: number } } | 'unfit' {
  const one = (of: Value): number => builder.view(of, [1], [1]).index;
  const scalar = factor === null ? null : value(factor);
  const isOfAll =
    !largest ||
    reduceAxes('ReduceMax', numbersOf(largest.node.attributes, 'axes'), scores).length === scores.length;
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
  const q = flagOf(matmul.attributes, 'transpose_a') ? transposed(builder, a) : a;
  const k = flagOf(matmul.attributes, 'transpose_b') ? b : transposed(builder, b);
  return { q: asHeads(builder, q, layout, 'exact'), k: asHeads(builder, k, layout, 'grouped') };
}

/** A dropout match as an option. */
export function stepDropout({ seed, offset, p }: DropoutMatch, lowering: MatchLowering): StepDropout {
  return {
    seed: lowering.value(seed).index,
    offset: lowering.value(offset).index,
    p: typeof p === 'number' ? p : { value: lowering.value(p.tensor).index },
  };
}

/** lse as the graph's stats: 0 for a row that sees nothing, where lse is −∞. */
function storeStats(lse: Value, stats: Value, { B, H }: HeadLayout, builder: MatchLowering['builder']): void {
  const Sq = lse.desc.shape[2];
  const target = resultView(builder, stats, [B, H, Sq]);
  builder.map(select(lt(input(0), -3e38), 0, input(0)), [lse], target.to);
  target.finish();
}
