import {
  type AttentionProblem,
  type BackwardProblem,
  type GradientName,
  normalise,
  normaliseBackward,
  type TensorDesc,
} from '@tilewise/core';
import { modOf } from '@tilewise/core/expr';
import { gradientNames } from '../../ir/program/attention-call.ts';
import type { AttentionStep, StepMod } from '../../ir/program/attention-step.ts';
import { roundingOption } from './options.ts';

/** The problem of a step before its numbers are known: whether an engine can run it does not depend on them. */
export function syntheticProblem(
  step: AttentionStep,
  desc: (value: number) => TensorDesc,
): AttentionProblem | BackwardProblem {
  const { options: score, scoreMod, zeroBias, dropout, rounding } = step.options;
  const mod = ({ expr, captures }: StepMod) =>
    modOf<TensorDesc>(expr, Object.fromEntries(Object.entries(captures).map(([name, n]) => [name, desc(n)])));
  const bias = score ? score.bias : zeroBias;
  const options = {
    scale: 1,
    ...(bias !== undefined && { bias: desc(bias) }),
    ...(score === null && { scoreMod: mod(scoreMod) }),
    ...(score?.softcap && { softcap: 1 }),
    ...(score?.diagonal && { causal: true }),
    ...(score?.mask !== undefined && { mask: desc(score.mask) }),
    ...(score?.maskMod && { maskMod: mod(score.maskMod) }),
    ...(dropout && { dropout: { p: 0.5, seed: 0, scheme: 'onednn' as const } }),
    ...(rounding && { fp8: roundingOption(rounding, desc) }),
  };
  const inputs = { q: desc(step.q), k: desc(step.k), v: desc(step.v) };
  if (step.kind === 'sdpa') return normalise(inputs, { ...options, outDType: step.outDType }).problem;
  const results: Readonly<Partial<Record<GradientName, number>>> = step.results;
  const gradients = gradientNames.filter(name => results[name] !== undefined);
  return normaliseBackward(
    { ...inputs, o: desc(step.o), lse: desc(step.lse), dO: desc(step.dO) },
    { ...options, gradients },
  ).problem;
}
