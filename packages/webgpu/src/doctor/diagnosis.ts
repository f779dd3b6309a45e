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
}
