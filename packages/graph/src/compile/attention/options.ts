import { type Alignment, type Fp8Options, type SdpaOptions, Tensor, type TensorDesc } from '@tilewise/core';
import { add, and, checkedMod, type Expr, ge, kv, type Mod, q } from '@tilewise/core/expr';
import type {
  ScalarProduct,
  ScoreOptions,
  StepDiagonal,
  StepDropout,
  StepMod,
  StepOptions,
  StepRounding,
} from '../../ir/program/attention-step.ts';
import { truth } from '../../ops/elementwise/numeric.ts';
import { word64Of } from './seed-words.ts';

/**
 * Reads the numbers of a small value.
 * @param assumed the number to return while the numbers are unknown. Default: 1.
 */
export type Numbers = (value: number, assumed?: number) => Float64Array;

/** The tensors and numbers from which a step's options are made. */
export interface OptionSource<T> {
  tensor(value: number): T;
  /** Reads the values that `optionNumbers` lists. */
  readonly numbers: Numbers;
}

/** The numbers of queries and keys. */
export interface Extents {
  readonly Sq: number;
  readonly Skv: number;
}

/** The values whose numbers `attentionOptions` needs on the host. */
export function optionNumbers({ options, equal = [], dropout }: StepOptions): number[] {
  const factors = [...(options?.scale.factors ?? []), ...(options?.softcap?.factors ?? [])];
  const terms = options?.diagonal?.offset ?? [];
  return [
    ...[...factors, ...terms].map(({ value }) => value),
    ...(options?.fills ?? []),
    ...equal.flat(),
    ...(dropout ? [dropout.seed, dropout.offset] : []),
    ...(dropout && typeof dropout.p === 'object' ? [dropout.p.value] : []),
  ];
}

/**
 * The options of an attention call, for the numbers of a step; null if the step with these numbers is not
 * that attention.
 */
export function attentionOptions<T extends TensorDesc>(
  { options, scoreMod, optionsOnly, equal = [], zeroBias, dropout, rounding }: StepOptions,
  extents: Extents,
  source: OptionSource<T>,
): SdpaOptions<T | Tensor> | null {
  if (equal.some(([a, b]) => `${source.numbers(a)}` !== `${source.numbers(b)}`)) return null;
  const fast = options && scoreOptions(options, extents, source);
  if (!fast && optionsOnly) return null;
  const score = fast ?? {
    scale: 1,
    scoreMod: stepMod(scoreMod, source),
    ...(zeroBias !== undefined && { bias: source.tensor(zeroBias) }),
  };
  return {
    ...score,
    ...(dropout && { dropout: dropoutOption(dropout, source) }),
    ...(rounding && { fp8: roundingOption(rounding, source.tensor) }),
  };
}

/** The option that makes an attention call round P. */
function roundingOption<T>(
  { dtype, zeroPoint, scale, descale, factor }: StepRounding,
  tensor: (value: number) => T,
): Fp8Options<T> {
  const scaleS = factor === undefined ? 1 / scale : tensor(factor);
  return { scaleS, descaleS: descale, formatP: { dtype, zeroPoint } };
}

/** The options equivalent to the graph's operations; null if the graph's scalars rule them out. */
function scoreOptions<T extends TensorDesc>(
  { scale, softcap, bias, mask, diagonal, maskMod: mod, fills, scaledAfterMask }: ScoreOptions,
  extents: Extents,
  source: OptionSource<T>,
): SdpaOptions<T | Tensor> | null {
  for (const fill of fills) {
    if (source.numbers(fill, -Infinity)[0] !== -Infinity) return null;
  }
  const factor = scoreScale({ scale, scaledAfterMask }, source.numbers);
  const cap = softcap && product(softcap, source.numbers);
  if (factor === null || (cap !== undefined && !(cap > 0))) return null;
  return {
    scale: factor,
    ...(cap !== undefined && { softcap: cap }),
    ...(bias !== undefined && { bias: source.tensor(bias) }),
    ...(mask !== undefined && { mask: source.tensor(mask) }),
    ...implicitMask(diagonal, mod, extents, source),
  };
}

/**
 * The scale of the scores; null if their factor is not a valid scale, such as a negative factor after a mask
 * of −∞.
 */
export function scoreScale(
  { scale, scaledAfterMask }: Pick<ScoreOptions, 'scale' | 'scaledAfterMask'>,
  numbers: Numbers,
): number | null {
  const factor = product(scale, numbers);
  return Number.isFinite(Math.fround(factor)) && (!scaledAfterMask || factor > 0) ? factor : null;
}

/**
 * A diagonal as `causal` if it is aligned to the top left or bottom right, so that kernels skip masked tiles;
 * else as an expression.
 */
function implicitMask<T extends TensorDesc>(
  diagonal: StepDiagonal | undefined,
  mod: StepMod | undefined,
  { Sq, Skv }: Extents,
  source: OptionSource<T>,
): SdpaOptions<T | Tensor> {
  let offset = 0;
  for (const { value, negative } of diagonal?.offset ?? []) {
    const [x] = source.numbers(value, 0);
    offset += negative ? -x : x;
  }
  const causal: Alignment | null = offset === 0 ? 'top-left' : offset === Skv - Sq ? 'bottom-right' : null;
  if (diagonal && causal === null) {
    const hides = ge(add(q, offset | 0), kv);
    return { maskMod: mod ? joined(stepMod(mod, source), hides) : checkedMod(hides) };
  }
  return {
    ...(diagonal && causal && { causal }),
    ...(mod && { maskMod: stepMod(mod, source) }),
  };
}

function joined<T>(mod: Mod<T>, other: Expr): Mod<T> {
  return { ...mod, expr: and(truth(mod.expr), truth(other)) };
}

function stepMod<T>({ expr, captures }: StepMod, source: OptionSource<T>): Mod<T> {
  const tensors = Object.entries(captures).map(([name, value]) => [name, source.tensor(value)] as const);
  return tensors.length === 0 ? checkedMod(expr) : checkedMod(expr, Object.fromEntries(tensors));
}

function product({ factors }: ScalarProduct, numbers: Numbers): number {
  let result = 1;
  for (const { value, inverse } of factors) {
    const [x] = numbers(value);
    result = inverse ? result / x : result * x;
  }
  return result;
}

function dropoutOption<T>(
  { seed, offset, p }: StepDropout,
  source: OptionSource<T>,
): SdpaOptions<T | Tensor>['dropout'] {
  const probability = typeof p === 'number' ? Math.fround(p) : source.numbers(p.value, 0.5)[0];
  // An attention problem cannot have p = 1; a keep-mask of zeros is equivalent.
  if (probability >= 1) return { mask: Tensor.zeros([1, 1, 1, 1], { dtype: 'bool' }), scale: 0 };
  return {
    p: probability,
    seed: word64Of(source.numbers(seed, 0)),
    offset: word64Of(source.numbers(offset, 0)),
    scheme: 'onednn',
  };
}
