import { createLengths } from '../attention/host/sequences.ts';
import type {
  BackwardAmaxName,
  BackwardProblem,
  GradientName,
  Operands,
} from '../attention/problem/problem.ts';
import type { ScoreChain } from '../score/score-chain.ts';
import type { Tensor } from '../tensor/tensor.ts';
import {
  type Float64Tensor,
  filled,
  type IndexedTensor,
  likeBroadcast,
  likeOperand,
  plain,
  raiseAmax,
} from './float64-tensor.ts';
import type { Head } from './head/head.ts';

/**
 * Gradients before rounding, each in the shape of its operand, and largest magnitudes (1); only those that
 * were requested.
 */
export type BackwardFloat64 = Readonly<Partial<Record<GradientName | BackwardAmaxName, Float64Tensor>>> & {
  /**
   * The gradients with respect to the tensors that the score mod loads floats from, by name; absent if it
   * loads none.
   */
  readonly dCaptures?: Readonly<Record<string, Float64Tensor>>;
};

/** All gradients of a problem, under construction. */
export interface Gradients {
  readonly dq: IndexedTensor;
  /** Absent if k or v is paged, because several sequences may share a page. */
  readonly dk?: IndexedTensor;
  readonly dv?: IndexedTensor;
  readonly dbias?: IndexedTensor;
  readonly dsink?: Float64Tensor;
  readonly dAlibi?: Float64Tensor;
  readonly dCaptures: Readonly<Record<string, Float64Tensor>>;
}

/** The gradients before any head has been added: zeros. */
export function zeroGradients(
  { forward: problem, dq, dk, dv }: BackwardProblem,
  operands: Operands<Tensor>,
  chain: ScoreChain,
): Gradients {
  const { Hq, captures } = problem;
  const lengths = createLengths(problem, operands);
  return {
    dq: likeOperand(dq, lengths.q, operands['raggedOffsets.dq']),
    ...(!problem.k.page && { dk: likeOperand(dk, lengths.kv, operands['raggedOffsets.dk']) }),
    ...(!problem.v.page && { dv: likeOperand(dv, lengths.kv, operands['raggedOffsets.dv']) }),
    ...(problem.bias && { dbias: likeBroadcast(problem.bias) }),
    ...(problem.sink && { dsink: filled([Hq], 0) }),
    ...(problem.alibi && { dAlibi: filled([Hq], 0) }),
    dCaptures: Object.fromEntries(
      chain.differentiableCaptures.map(name => [name, filled(captures[name].shape, 0)]),
    ),
  };
}

const backwardAmaxNames: readonly BackwardAmaxName[] = ['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'];

/** Multiplies a gradient by its descale and then by its scale. Returns its largest magnitude in between. */
export function rescale(gradient: Float64Tensor | undefined, descale: number, scale: number): Float64Tensor {
  const amax = filled([1], 0);
  const values = gradient?.values ?? [];
  for (let at = 0; at < values.length; at++) {
    values[at] *= descale;
    raiseAmax(amax, values[at]);
    values[at] *= scale;
  }
  return amax;
}

/** Adds the rows of one head of one sequence to a gradient of any layout. */
export function addHead(
  { values, indexOf }: IndexedTensor,
  b: number,
  h: number,
  rows: Float64Array,
  D: number,
): void {
  for (let s = 0; s * D < rows.length; s++) {
    const at = indexOf(b, h, s);
    for (let d = 0; d < D; d++) values[at + d] += rows[s * D + d];
  }
}

/** Adds row i of ds, at keys j, to the gradients of the bias, the slopes and the captured tensors. */
export function addScoreGradients(
  { dbias, dAlibi, dCaptures }: Gradients,
  chain: ScoreChain,
  { b, h }: Head,
  i: number,
  j: Int32Array,
  x: Float64Array,
  ds: Float64Array,
): void {
  if (!dbias && !dAlibi && chain.differentiableCaptures.length === 0) return;
  for (let n = 0; n < j.length; n++) {
    if (dbias) dbias.values[dbias.indexOf(b, h, i, j[n])] += ds[n];
    if (dAlibi) dAlibi.values[h] -= chain.distance(b, i, j[n]) * ds[n];
    for (const { name, index, value } of chain.captureDerivatives(x[n], b, h, i, j[n])) {
      dCaptures[name].values[index] += ds[n] * value;
    }
  }
}

/** The gradients and largest magnitudes that a problem asks for. */
export function requested(
  { gradients, outputs }: BackwardProblem,
  { dCaptures, ...all }: Gradients,
  amaxes: Readonly<Record<BackwardAmaxName, Float64Tensor>>,
): BackwardFloat64 {
  const chosen: Partial<Record<GradientName | BackwardAmaxName, Float64Tensor>> = {};
  for (const name of gradients) {
    const gradient = all[name];
    if (gradient) chosen[name] = plain(gradient);
  }
  for (const name of backwardAmaxNames) if (outputs[name]) chosen[name] = amaxes[name];
  return { ...chosen, ...(Object.keys(dCaptures).length > 0 && { dCaptures }) };
}
