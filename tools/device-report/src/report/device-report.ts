import type { Diagnosis } from '@tilewise/webgpu/doctor';
import type { Machine, Measurement, MeasureSettings } from '../attention/measurement.ts';

/** The peak of a device, as measured. */
export interface PeakReport {
  /** Rows and columns of the multiplied matrices. */
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

/** The speed of attention, and how it was measured. */
export interface AttentionReport {
  readonly settings: Pick<MeasureSettings, 'D' | 'dtype' | 'causal'>;
  readonly machine: Machine;
  readonly measurements: readonly Measurement[];
}

/** Everything that an examination found out about a device, as plain data. */
export interface DeviceReport {
  readonly format: 'tilewise-device-report';
  readonly version: 1;
  /** The time of the report: an ISO 8601 date, in UTC. */
  readonly made: string;
  /** The program that made the report: a browser's user agent, or the version of Node. */
  readonly host: string;
  readonly diagnosis: Diagnosis;
  readonly peak: PeakReport | null;
  readonly attention: AttentionReport | null;
}

/** The TFLOP/s of a measurement; undefined if nothing was timed. */
export const teraflops = ({ ms, flops }: Measurement): number | undefined =>
  ms === undefined ? undefined : flops / ms / 1e9;

/** A report as JSON. JSON has no infinite numbers: an infinite error is a string. */
export function reportJson(report: DeviceReport): string {
  const finite = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  return JSON.stringify(report, finite, 2);
}

/** A short description of the device. */
export function deviceName({ diagnosis: { adapter }, attention }: DeviceReport): string {
  const { description = '', vendor = '', architecture = '' } = adapter ?? {};
  return (
    description ||
    [vendor, architecture].filter(Boolean).join(' ') ||
    attention?.machine.description ||
    'no GPU'
  );
}
