import { type AttentionProblem, cost, type DType, normalise, Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';
import type { EngineChoice } from '../engine/tensor-engine.ts';

/** The settings of a measurement. */
export interface BenchConfig {
  readonly engine: EngineChoice;
  readonly size: BenchSize;
  readonly D: 32 | 64 | 128;
  readonly causal: boolean;
  readonly dtype: 'f32' | 'f16' | 'bf16';
}

/** How long the sequences are; `auto` is small where a CPU does the work, else medium. */
export type BenchSize = 'auto' | 'small' | 'medium' | 'large';

/** The flash kernels, or attention with the scores in memory (always f32). */
export type Implementation = 'flash' | 'naive';

/** The machine of a measurement. */
export interface BenchMachine {
  readonly engine: 'webgpu' | 'cpu';
  readonly description: string;
  readonly vendor: string;
  readonly architecture: string;
  readonly features: readonly string[];
  /** A CPU that plays a GPU: times say nothing about GPUs. */
  readonly software: boolean;
  readonly clock: 'timestamps' | 'wall clock';
  /** Why it is not a GPU, although one was asked for. */
  readonly instead?: string;
}

/** One measurement. */
export interface BenchRow {
  readonly implementation: Implementation;
  readonly pass: 'forward' | 'backward';
  readonly heads: number;
  readonly S: number;
  /** The median of some runs; absent where there is no result that could be timed. */
  readonly ms?: number;
  /** Counts the products that are needed, whatever the implementation computes: see `cost` of the library. */
  readonly tflops?: number;
  /** All buffers of the pass. */
  readonly bytes: number;
  /**
   * The largest difference from the CPU engine (of that, from the float64 reference), relative to the largest
   * number.
   */
  readonly error?: number;
  /** Why there is no time: the scores need more than a buffer may have, or the result was wrong. */
  readonly failure?: 'too large' | 'wrong';
}

/** A message of a measurement while it runs. */
export type BenchEvent =
  | {
      readonly kind: 'machine';
      readonly machine: BenchMachine;
      readonly heads: number;
      readonly lengths: readonly number[];
    }
  | { readonly kind: 'row'; readonly row: BenchRow; readonly done: number; readonly total: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

/** Sequence lengths and heads for a machine. */
export function benchShapes(
  size: BenchSize,
  { engine, software }: Pick<BenchMachine, 'engine' | 'software'>,
): { readonly heads: number; readonly lengths: readonly number[] } {
  const chosen = size === 'auto' ? (engine === 'cpu' || software ? 'small' : 'medium') : size;
  const shapes = {
    webgpu: {
      small: { heads: 2, lengths: [64, 128, 256] },
      medium: { heads: 8, lengths: [256, 512, 1024, 2048] },
      large: { heads: 16, lengths: [1024, 2048, 4096, 8192] },
    },
    cpu: {
      small: { heads: 2, lengths: [64, 128, 256] },
      medium: { heads: 4, lengths: [128, 256, 512] },
      large: { heads: 8, lengths: [256, 512, 1024] },
    },
  };
  return shapes[engine][chosen];
}

/** q, k, v and dO of standard normals, (1, heads, S, D). */
export function benchInputs(
  heads: number,
  S: number,
  { D, dtype }: BenchConfig,
): Record<'q' | 'k' | 'v' | 'dO', Tensor> {
  const shape = [1, heads, S, D];
  const make = (subsequence: number): Tensor => {
    const values = fillNormal(new Float32Array(heads * S * D), { seed: 1, subsequence });
    const tensor = Tensor.wrap(values, { dtype: 'f32', shape });
    return dtype === 'f32' ? tensor : tensor.cast(dtype);
  };
  return { q: make(0), k: make(1), v: make(2), dO: make(3) };
}

/** Multiplications and additions that a pass needs. */
export function flopsOf(problem: AttentionProblem, pass: BenchRow['pass']): number {
  return cost(problem)[pass].flops;
}

export function forwardProblem(
  inputs: Readonly<Record<'q' | 'k' | 'v', Tensor>>,
  causal: boolean,
): AttentionProblem {
  const { q, k, v } = inputs;
  return normalise({ q, k, v }, { causal }).problem;
}

/** Results may differ by four roundings of their dtype, and in f32 by those of sums. */
const allowed: Readonly<Partial<Record<DType, number>>> = { f32: 3e-5, f16: 2 ** -9, bf16: 2 ** -6 };

/** Whether a result is right, from its error. */
export function isRight(error: number, dtype: DType): boolean {
  return error <= (allowed[dtype] ?? 0);
}

/** The largest difference of two tensors of one shape, relative to the largest number. */
export function errorOf(got: Tensor, exact: Tensor): number {
  const [a, b] = [got.toFloat32(), exact.toFloat32()];
  let worst = 0;
  let largest = 1e-30;
  for (let n = 0; n < b.length; n++) {
    const [x = Number.NaN, y = Number.NaN] = [a[n], b[n]];
    // NaN must not pass for small.
    const apart = Math.abs(x - y);
    if (!(apart <= worst)) worst = apart;
    largest = Math.max(largest, Math.abs(y));
    if (Number.isNaN(worst)) return Number.POSITIVE_INFINITY;
  }
  return worst / largest;
}

/** A head of a (1, heads, S, …) tensor, by itself. */
export function headOf(tensor: Tensor, head: number): Tensor {
  return tensor.slice(1, head, head + 1).contiguous();
}

export function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = sorted.slice(middle - 1, middle + 1);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : (low + high) / 2;
}
