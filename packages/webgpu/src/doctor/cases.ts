import { type DType, elementCount, type SdpaOptions, Tensor } from '@tilewise/core';

/** A call of attention that the doctor computes, forward and backward. */
export interface Case {
  /** The special options of the case; '' for the usual case. */
  readonly name: string;
  readonly dtype: 'f32' | 'f16' | 'bf16';
  /** The numbers of queries and keys, and the head size. */
  readonly shape: readonly [Sq: number, Skv: number, D: number];
  readonly options: SdpaOptions;
}

export const batch = 1;
export const queryHeads = 4;
export const keyHeads = 2;

/** More than one tile of queries and keys, grouped heads, and a random mask. */
const usual: Omit<Case, 'dtype'> = {
  name: '',
  shape: [50, 50, 16],
  options: { causal: true, dropout: { p: 0.25, seed: 42n } },
};

/** The usual case in the dtypes that most programs use. */
export const usualCases: readonly Case[] = [
  { ...usual, dtype: 'f32' },
  { ...usual, dtype: 'f16' },
];

/** Pseudo-random numbers in [−1, 1), the same in every run. */
export function numbers(shape: readonly number[], seed: number, dtype: DType = 'f32'): Tensor {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  return Tensor.from(Float32Array.from({ length: elementCount(shape) }, next), shape, { dtype });
}

const [S] = usual.shape;
const mask = Tensor.from(
  numbers([S, S], 5)
    .toFloat32()
    .map(x => Number(x > 0)),
  [S, S],
  { dtype: 'bool' },
);
const bias = numbers([1, queryHeads, S, S], 6);
const drawn = (scheme: 'flash-attention-2' | 'onednn') => ({ p: 0.25, seed: 42n, scheme });

/**
 * Cases with every dtype, mask, bias and dropout, and with head sizes that have their own kernels. One case
 * combines several options that kernels handle separately, because compiling takes most of the time.
 */
export const thoroughCases: readonly Case[] = [
  ...usualCases,
  {
    name: 'boolean mask, ALiBi, sequence lengths',
    dtype: 'f32',
    shape: [S, S, 16],
    options: { mask, alibi: true, seqLensQ: [37], seqLensKv: [41] },
  },
  {
    name: 'bias, softcap, sinks',
    dtype: 'f32',
    shape: [S, S, 16],
    options: { bias, softcap: 2, sink: [0.5, -0.5, 1, 0] },
  },
  {
    name: 'window aligned bottom right, dropout of FlashAttention-2',
    dtype: 'f32',
    shape: [70, 90, 64],
    options: {
      causal: 'bottom-right',
      window: { left: 9, align: 'bottom-right' },
      dropout: drawn('flash-attention-2'),
    },
  },
  {
    name: 'head size 128, dropout of oneDNN',
    dtype: 'f16',
    shape: [40, 72, 128],
    options: { dropout: drawn('onednn') },
  },
  { name: 'head size 40', dtype: 'bf16', shape: [33, 65, 40], options: {} },
  { name: 'one query, many keys', dtype: 'f32', shape: [1, 700, 64], options: {} },
];
