/** The adapter as the driver describes it. */
export interface AdapterReport {
  /** As in `GPUAdapterInfo`, such as 'nvidia'; '' if the adapter hides it. */
  readonly vendor: string;
  /** As in `GPUAdapterInfo`, such as 'ampere'; '' if the adapter hides it. */
  readonly architecture: string;
  /** As in `GPUAdapterInfo`; '' if the adapter hides it. */
  readonly device: string;
  /** Often the name and version of the driver. */
  readonly description: string;
  /** Whether it is a software adapter, which runs on the CPU: correct results, but slow. */
  readonly software: boolean;
}

/** A limit of the device that kernels depend on. */
export interface LimitReport {
  /** The name of a number in `Capabilities`, such as `maxStorageBufferBindingSize`. */
  readonly name: string;
  /** The device's value. */
  readonly value: number;
  /** The value that WebGPU guarantees everywhere. */
  readonly guaranteed: number;
}

/** A kind of problem that needs more than every device offers. */
export interface VariantReport {
  /** The kind of problem in a few words. */
  readonly name: string;
  /** Whether the device can run it. */
  readonly enabled: boolean;
  /** The missing features; empty if the device can run the problem. */
  readonly reasons: readonly string[];
}

/** One computation, compared with the float64 reference. */
export interface CheckReport {
  /** What was computed, in a few words. */
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
  /** The kernel that the tile belongs to. */
  readonly kernel: 'forward' | 'dq' | 'dkdv';
  /** The adapter class that the model assumes. */
  readonly adapterClass: string;
  /** The tile that the kernel uses on this adapter. */
  readonly tile: string;
  /** The predicted time relative to the baseline tile; null for a tile that the model does not cover. */
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
  /** The overall result. */
  readonly status: Status;
  /** One sentence, with advice if something is missing. */
  readonly verdict: string;
  /** The origin of WebGPU. */
  readonly source: string;
  /** The adapter; null if there is none. */
  readonly adapter: AdapterReport | null;
  /** The names of the WebGPU features of the adapter, sorted. */
  readonly features: readonly string[];
  /** The limits of the device; empty if there is no device. */
  readonly limits: readonly LimitReport[];
  /** The problems that not every device can run; empty if there is no device. */
  readonly variants: readonly VariantReport[];
  /** The comparisons with the float64 reference, in the order in which they ran. */
  readonly checks: readonly CheckReport[];
  /** Predicted and measured times of the large kernels' tiles, if they were asked for. */
  readonly tiles?: readonly TileComparison[];
}
