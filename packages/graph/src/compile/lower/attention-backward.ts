import { elementCount, type Shape, sameShape, Tensor } from '@tilewise/core';
import { div, eq, exp, lt, mul, type NumericExpr, select, sub } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { StepOptions } from '../../ir/program/attention-step.ts';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import { reduceAxes } from '../../ops/reduction/reduce.ts';
import type { BackwardParts } from '../../passes/attention/backward.ts';
import type { GradientMatMul } from '../../passes/attention/backward-products.ts';
import type { DropoutMatch } from '../../passes/attention/dropout.ts';
import type { Factor, Product } from '../../passes/attention/product.ts';
import { queriesAndKeys, stepDropout } from './attention-forward.ts';
import { asHeads, type HeadLayout, headLayout, resultView } from './heads.ts';
import { isPerScore, type MatchLowering } from './match-lowering.ts';
import { scoreProgram } from './score-program.ts';

/** Writes a backward pass as one attention call; false if its shapes do not fit one. */
export function lowerBackward(parts: BackwardParts, lowering: MatchLowering): boolean {
  const { builder } = lowering;
  const scores = lowering.desc(parts.chain.matmul.outputs[0].id).shape;
  if (!isOverScores(parts, scores, lowering)) return false;
  const layout = headLayout(scores);
  const found = queriesAndKeys(parts.chain, layout, lowering);
  const program = found && scoreProgram(parts.chain, layout, lowering);
  // If the gradient ignores a mask, only the options are correct: a masked score then has a probability of 0.
  if (!program || (parts.ignoresMasks && !program.options)) return false;
  const { q } = found;
  const [Sq, Skv] = scores.slice(-2);
  // A gradient that is not summed over groups has one head per query head.
  const k = parts.dk && !parts.dk.reduce ? perHead(found.k, layout, lowering) : found.k;
  const matrix = ({ tensor, transposed: swap }: Factor): Value =>
    swap ? builder.transposed(lowering.value(tensor)) : lowering.value(tensor);
  const v = asHeads(builder, matrix(parts.v), layout, parts.dv && !parts.dv.reduce ? 'exact' : 'grouped');
  const factor = dropoutFactor(parts.dropout, lowering);
  const givenDO = asHeads(builder, matrix(parts.dO), layout, 'exact');
  const dO = factor ? mapped(givenDO, factor.value, x => mul(x, factor.expr), builder) : givenDO;
  const stats = asHeads(builder, lowering.value(parts.stats), layout, 'exact');
  if (!sameShape(stats.desc.shape, [layout.B, layout.H, Sq, 1])) return false;
  const rows = builder.view(stats, stats.desc.shape.slice(0, 3), stats.desc.strides.slice(0, 3));
  const lse = builder.contiguous(inF32(rows, builder));
  const options: StepOptions = {
    ...program,
    ...(parts.dropout && { dropout: stepDropout(parts.dropout, lowering) }),
    optionsOnly: parts.ignoresMasks,
    equal: parts.equal.map(([a, b]) => [lowering.value(a).index, lowering.value(b).index] as const),
  };
  const givenO = parts.o && asHeads(builder, matrix(parts.o), layout, 'exact');
  // Multiplying dO by the factor and dividing o by it does not change o∘dO.
  const withoutFactor = (x: NumericExpr, f: NumericExpr) => select(eq(f, 0), 0, div(x, f));
  const computed = (): Value => outputOf({ q, k, v, lse }, options, builder);
  const o =
    givenO === null
      ? computed()
      : factor
        ? mapped(givenO, factor.value, x => withoutFactor(x, factor.expr), builder)
        : givenO;
  if (parts.recomputed) writeOutput(parts.recomputed, givenO === null ? o : computed(), factor, lowering);

  const maskResult =
    parts.dMask === null
      ? null
      : resultView(builder, lowering.result(parts.dMask), [layout.B, layout.H, Sq, Skv]);
  const targets = {
    dq: targetOf(parts.dq, q, lowering),
    dk: sumsGroups(parts.dk, parts.chain.matmul.inputs[1].id, lowering)
      ? targetOf(parts.dk, k, lowering)
      : null,
    dv: sumsGroups(parts.dv, parts.v.tensor, lowering) ? targetOf(parts.dv, v, lowering) : null,
  };
  if (Object.values(targets).includes(null)) return false;
  builder.attention({
    kind: 'sdpa-backward',
    q: q.index,
    k: k.index,
    v: v.index,
    o: o.index,
    lse: lse.index,
    dO: dO.index,
    options: maskResult ? withFullBias(options, [layout.B, layout.H, Sq, Skv], builder) : options,
    results: {
      ...(targets.dq?.to && { dq: targets.dq.to.index }),
      ...(targets.dk?.to && { dk: targets.dk.to.index }),
      ...(targets.dv?.to && { dv: targets.dv.to.index }),
      ...(maskResult && { dbias: maskResult.to.index }),
    },
  });
  for (const target of Object.values(targets)) target?.finish();
  maskResult?.finish();
  return true;
}

/**
 * Whether every operation on scores and their gradients is elementwise, and row sums are over keys.
 */
function isOverScores(
  { likeScores, summed, dropouts, o, dO }: BackwardParts,
  scores: Shape,
  { desc }: MatchLowering,
): boolean {
  const shapeOf = (tensor: number): Shape => desc(tensor).shape;
  const rank = shapeOf(summed.tensor).length;
  return (
    likeScores.every(t => sameShape(shapeOf(t), scores)) &&
    axisOf(summed.axis, rank) === rank - (summed.transposed ? 2 : 1) &&
    dropouts.every(dropout => isPerScore(dropout, scores, { desc })) &&
    // The call does not accept an o that broadcasts to dO.
    (o === null || sameShape(shapeOf(o.tensor).slice(-2), shapeOf(dO.tensor).slice(-2)))
  );
}

interface DropoutFactor {
  readonly value: Value;
  readonly expr: NumericExpr;
}

/**
 * The graph's dropout factor relative to the kernel's 1 / (1 − p): an expression of input 1, the graph's
 * scalar.
 */
function dropoutFactor(
  dropout: DropoutMatch | null,
  { builder, value }: MatchLowering,
): DropoutFactor | null {
  if (dropout?.scale === undefined) return null;
  const scale = builder.view(value(dropout.scale), [], []);
  return { value: scale, expr: mul(input(1), 1 - (dropout.p as number)) };
}

/** Computes a tensor elementwise from another tensor and a scalar. */
function mapped(
  of: Value,
  scalar: Value,
  element: (x: NumericExpr) => NumericExpr,
  builder: ProgramBuilder,
): Value {
  const to = builder.temporary(of.desc.shape);
  builder.map(element(input(0)), [of, scalar], to);
  return to;
}

/** Repeats keys (B, Hk, Skv, D) to one head per query head. */
function perHead(k: Value, { B, H }: HeadLayout, { builder }: MatchLowering): Value {
  const [, Hk, Skv, D] = k.desc.shape;
  if (Hk === H) return k;
  const [sb, sh, ss, sd] = k.desc.strides;
  const groups = builder.view(k, [B, Hk, H / Hk, Skv, D], [sb, sh, 0, ss, sd]);
  return builder.reshaped(groups, [B, H, Skv, D]);
}

/** Whether the sum after a product is over the query heads that share one head of the operand. */
function sumsGroups(gradient: GradientMatMul | null, operand: number, lowering: MatchLowering): boolean {
  if (!gradient?.reduce) return true;
  const { shape } = lowering.value(operand).desc;
  const product = lowering.desc(gradient.matmul.outputs[0].id).shape;
  const axes = reduceAxes(numbersOf(gradient.reduce.attributes, 'axes'), product);
  const lead = product.length - shape.length;
  return product.every((n, d) => {
    // Neither of the last two dimensions, which may be swapped, is summed.
    if (d >= product.length - 2) return !axes.includes(d);
    const own = d < lead ? 1 : shape[d - lead];
    return axes.includes(d) ? own === 1 : own === n;
  });
}

/**
 * The value that a gradient is written to: empty if the gradient is not requested; null if the graph's
 * gradient has another size.
 */
function targetOf(
  gradient: GradientMatMul | null,
  operand: Value,
  lowering: MatchLowering,
): { readonly to: Value | null; finish(): void } | null {
  if (gradient === null) return { to: null, finish: () => {} };
  const stored = lowering.result(gradient.result);
  const result = gradient.transposed ? lowering.builder.transposed(stored) : stored;
  if (elementCount(result.desc.shape) !== elementCount(operand.desc.shape)) return null;
  return resultView(lowering.builder, result, operand.desc.shape);
}

/**
 * The output for given stats, if the graph computes the gradient of softmax from the probabilities: Σ_j P∘dP
 * = dO·o with o = P·V. Stats that do not belong to these scores scale P, and therefore o.
 */
function outputOf(
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
function writeOutput(
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

/**
 * Options with an f32 bias in the shape of the scores, so that dbias is the gradient of the scores. A
 * broadcast bias, or a bias of zeros, is a view with strides of 0.
 */
function withFullBias(options: StepOptions, shape: readonly number[], builder: ProgramBuilder): StepOptions {
  const expanded = (value: Value): Value => {
    const strides = shape.map((_, d) => (value.desc.shape[d] === 1 ? 0 : value.desc.strides[d]));
    return builder.view(value, shape, strides);
  };
  const zero = expanded(builder.constant(Tensor.zeros([1, 1, 1, 1])));
  const { options: score } = options;
  if (score === null) return { ...options, zeroBias: zero.index };
  const given = score.bias === undefined ? undefined : builder.valueAt(score.bias);
  const bias = given ? expanded(inF32(given, builder)) : zero;
  return { ...options, options: { ...score, bias: bias.index }, zeroBias: zero.index };
}

function inF32(value: Value, builder: ProgramBuilder): Value {
  if (value.desc.dtype === 'f32') return value;
  const copy = builder.temporary(value.desc.shape);
  builder.copy(value, copy);
  return copy;
}
