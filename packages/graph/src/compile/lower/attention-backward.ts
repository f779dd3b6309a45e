import { type Shape, sameShape, Tensor } from '@tilewise/core';
import { div, eq, mul, type NumericExpr, select } from '@tilewise/core/expr';
import type { StepOptions } from '../../ir/program/attention-step.ts';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import type { BackwardParts } from '../../passes/attention/backward.ts';
import type { Factor } from '../../passes/attention/product.ts';
import { queriesAndKeys, stepDropout } from './attention-forward.ts';
import { dropoutFactor, mapped, outputOf, writeOutput } from './backward-output.ts';
import { sumsGroups, targetOf } from './gradient-targets.ts';
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

/** Repeats keys (B, Hk, Skv, D) to one head per query head. */
function perHead(k: Value, { B, H }: HeadLayout, { builder }: MatchLowering): Value {
  const [, Hk, Skv, D] = k.desc.shape;
  if (Hk === H) return k;
  const [sb, sh, ss, sd] = k.desc.strides;
  const groups = builder.view(k, [B, Hk, H / Hk, Skv, D], [sb, sh, 0, ss, sd]);
  return builder.reshaped(groups, [B, H, Skv, D]);
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
