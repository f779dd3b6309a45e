/** The adapter in the driver's own words. */
export interface AdapterReport {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  /** Often the name and version of the driver. */
  readonly description: string;
  /** Whether a CPU plays the GPU: right results, slowly. */
  readonly software: boolean;
}

/** A limit of the device that kernels depend on. */
export interface LimitReport {
  readonly name: string;
  readonly value: number;
  /** The limit that WebGPU guarantees everywhere. */
  readonly guaranteed: number;
}

/** A kind of problem that needs more than every device has. */
export interface VariantReport {
  readonly name: string;
  readonly enabled: boolean;
  /** The missing features. */
  readonly reasons: readonly string[];
}

/** One computation, compared with the float64 reference. */
export interface CheckReport {
  readonly name: string;
  /** Largest difference over all results, relative to the largest value of each (at least 1). */
  readonly error: number;
  readonly allowed: number;
  readonly milliseconds: number;
  /** The error that ended the diagnosis early, if any. */
  readonly failure: string | null;
}

/** The prediction of the cost model for a kernel on this adapter, beside a measurement. Plain data. */
export interface TileComparison {
  readonly kernel: 'forward' | 'dq' | 'dkdv';
  /** The class that the model takes the adapter for. */
  readonly adapterClass: string;
  /** The tile that the kernel has on this adapter. */
  readonly tile: string;
  /**
   * Time relative to the tile that every device computes: as the model predicts it, null for a tile that the
   * model does not know, and as measured, null where the device did not run both tiles.
   */
  readonly predicted: number | null;
  readonly measured: number | null;
}

/**
 * - `ok`: attention runs and is right;
 * - `slow`: likewise, on a software adapter;
 * - `wrong`: it runs, and the results are not those of the reference, or the device failed;
 * - `missing`: there is no WebGPU, no adapter or no device.
 */
export type Status = 'ok' | 'slow' | 'wrong' | 'missing';

/** The findings on this machine. Plain data. */
export interface Diagnosis {
  readonly status: Status;
  /** One sentence, with what to do when something is missing. */
  readonly verdict: string;
  /** Where WebGPU came from. */
  readonly source: string;
  readonly adapter: AdapterReport | null;
  readonly features: readonly string[];
  readonly limits: readonly LimitReport[];
  readonly variants: readonly VariantReport[];
  readonly checks: readonly CheckReport[];
  /** Tiles of the large kernels, where they were asked for: predictions beside measurements. */
  readonly tiles?: readonly TileComparison[];
}
