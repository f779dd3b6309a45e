/** The adapter as the driver describes it. */
export interface AdapterReport {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  /** Often the name and version of the driver. */
  readonly description: string;
  /** Whether it is a software adapter, which runs on the CPU: correct results, but slow. */
  readonly software: boolean;
}

/** A limit of the device that kernels depend on. */
export interface LimitReport {
  readonly name: string;
  readonly value: number;
  /** The value that WebGPU guarantees everywhere. */
  readonly guaranteed: number;
}

/** A kind of problem that needs more than every device offers. */
export interface VariantReport {
  readonly name: string;
  readonly enabled: boolean;
  /** The missing features; empty if the device can run the problem. */
  readonly reasons: readonly string[];
}

/** One computation, compared with the float64 reference. */
export interface CheckReport {
  readonly name: string;
  /** The largest difference over all results, relative to the largest value of each result (at least 1). */
  readonly error: number;
  /** The largest error of a right result. */
  readonly allowed: number;
  /** The time of the computation, including the compilation of its kernels. */
  readonly milliseconds: number;
  /** The error that the computation threw, if any. */
  readonly failure: string | null;
}

/** The cost model's prediction for a kernel on this adapter, and a measurement. Plain data. */
export interface TileComparison {
  readonly kernel: 'forward' | 'dq' | 'dkdv';
  /** The adapter class that the model assumes. */
  readonly adapterClass: string;
  /** The tile that the kernel uses on this adapter. */
  readonly tile: string;
  /**
   * The predicted time relative to the tile that every device computes; null for a tile that the model does
   * not cover.
   */
  readonly predicted: number | null;
  /** The measured relative time; null if the device did not run both tiles. */
  readonly measured: number | null;
}

/**
 * The overall result of a diagnosis:
 *
 * - `ok`: attention runs, and its results are correct;
 * - `slow`: the same, but on a software adapter;
 * - `wrong`: attention runs, but its results differ from those of the reference, or the device failed;
 * - `missing`: there is no WebGPU, no adapter or no device.
 */
export type Status = 'ok' | 'slow' | 'wrong' | 'missing';

/** The findings on this machine. Plain data. */
export interface Diagnosis {
  readonly status: Status;
  /** One sentence, with advice if something is missing. */
  readonly verdict: string;
  /** The origin of WebGPU. */
  readonly source: string;
  readonly adapter: AdapterReport | null;
  readonly features: readonly string[];
  readonly limits: readonly LimitReport[];
  readonly variants: readonly VariantReport[];
  readonly checks: readonly CheckReport[];
  /** Predicted and measured times of the large kernels' tiles, if they were asked for. */
  readonly tiles?: readonly TileComparison[];
}
