/** The settings of a measurement; `auto` uses a GPU if there is one, else the CPU. */
export interface MeasureSettings {
  readonly engine: 'auto' | 'webgpu' | 'cpu';
  readonly size: MeasureSize;
  readonly D: number;
  readonly causal: boolean;
  readonly dtype: 'f32' | 'f16' | 'bf16';
}

/** The lengths of the sequences; `auto` is small if a CPU does the work, else medium. */
export type MeasureSize = 'auto' | 'small' | 'medium' | 'large';

/** The machine of a measurement. */
export interface Machine {
  readonly engine: 'webgpu' | 'cpu';
  readonly description: string;
  /** Whether a CPU emulates the GPU: times then say nothing about GPUs. */
  readonly software: boolean;
  readonly clock: 'timestamps' | 'wall clock';
  /** Why the machine is not a GPU although one was requested. */
  readonly instead?: string;
}

/** One measurement of attention. */
export interface Measurement {
  /** The flash kernels, or attention with the scores in memory (always f32). */
  readonly implementation: 'flash' | 'naive';
  readonly pass: 'forward' | 'backward';
  readonly heads: number;
  readonly S: number;
  /**
   * Counts only the necessary products, whatever the implementation computes: see `cost` of `@tilewise/core`.
   */
  readonly flops: number;
  /** The bytes of all buffers of the pass. */
  readonly bytes: number;
  /** The median of several runs; absent if there is no result to time. */
  readonly ms?: number;
  /**
   * The largest difference from the CPU engine (or, for the CPU engine, from the float64 reference), relative
   * to the largest number.
   */
  readonly error?: number;
  /** Why there is no time: the scores do not fit into a buffer, or the result was wrong. */
  readonly failure?: 'too large' | 'wrong';
}

/** Sequence lengths and heads for a machine. */
export function measuredShapes(
  size: MeasureSize,
  { engine, software }: Pick<Machine, 'engine' | 'software'>,
): { readonly heads: number; readonly lengths: readonly number[] } {
  const chosen = size === 'auto' ? (engine === 'cpu' || software ? 'small' : 'medium') : size;
  return shapes[engine][chosen];
}

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
} as const;
