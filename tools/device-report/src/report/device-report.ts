import type { Diagnosis } from '@tilewise/webgpu/doctor';
import type { Machine, Measurement, MeasureSettings } from '../attention/measurement.ts';

/** The peak of a device, as measured. */
export interface PeakReport {
  /** Rows and columns of the matrices that were multiplied. */
  readonly size: number;
  /** The fastest product of each precision. */
  readonly matmuls: readonly {
    readonly precision: string;
    readonly kernel: string;
    readonly tflops: number;
  }[];
  /** The bandwidth of a copy, counting the bytes read and the bytes written. */
  readonly gigabytesPerSecond: number;
  readonly clock: string;
}

/** How fast attention is, and what it was measured with. */
export interface AttentionReport {
  readonly settings: Pick<MeasureSettings, 'D' | 'dtype' | 'causal'>;
  readonly machine: Machine;
  readonly measurements: readonly Measurement[];
}

/** Everything that was found out about a device. Plain data. */
export interface DeviceReport {
  readonly format: 'tilewise-device-report';
  readonly version: 1;
  /** When the report was made: a date of ISO 8601, in UTC. */
  readonly made: string;
  /** The program that the report was made in: a browser's user agent, or a version of Node. */
  readonly host: string;
  readonly diagnosis: Diagnosis;
  readonly peak: PeakReport | null;
  readonly attention: AttentionReport | null;
}

/** TFLOP/s of a measurement; undefined where nothing was timed. */
export const teraflops = ({ ms, flops }: Measurement): number | undefined =>
  ms === undefined ? undefined : flops / ms / 1e9;

/** A report as JSON. JSON has no infinite numbers: an infinite error is a string. */
export function reportJson(report: DeviceReport): string {
  const finite = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  return JSON.stringify(report, finite, 2);
}

/** The device in a few words. */
export function deviceName({ diagnosis: { adapter }, attention }: DeviceReport): string {
  const { description = '', vendor = '', architecture = '' } = adapter ?? {};
  return (
    description ||
    [vendor, architecture].filter(Boolean).join(' ') ||
    attention?.machine.description ||
    'no GPU'
  );
}
