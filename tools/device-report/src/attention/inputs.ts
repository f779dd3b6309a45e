import { type AttentionProblem, normalise, type Tensor } from '@tilewise/core';
import { normalInputs } from '../timing/normal-inputs.ts';
import type { MeasureSettings } from './measurement.ts';

/** q, k, v and dO, filled with standard normal numbers, (1, heads, S, D). */
export function measuredInputs(
  heads: number,
  S: number,
  { D, dtype }: Pick<MeasureSettings, 'D' | 'dtype'>,
): Record<'q' | 'k' | 'v' | 'dO', Tensor> {
  const { q, k, v, dO } = normalInputs(['q', 'k', 'v', 'dO'], [1, heads, S, D]);
  return { q: q.cast(dtype), k: k.cast(dtype), v: v.cast(dtype), dO: dO.cast(dtype) };
}

export function forwardProblem(
  { q, k, v }: Readonly<Record<'q' | 'k' | 'v', Tensor>>,
  causal: boolean,
): AttentionProblem {
  return normalise({ q, k, v }, { causal }).problem;
}

/** One head of a (1, heads, S, …) tensor. */
export function headOf(tensor: Tensor, head: number): Tensor {
  return tensor.slice(1, head, head + 1).contiguous();
}
