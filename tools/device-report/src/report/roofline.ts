import type { Measurement } from '../attention/measurement.ts';
import { type DeviceReport, teraflops } from './device-report.ts';

/** The TFLOP/s of the best matrix product in a precision. */
export interface Ceiling {
  readonly precision: string;
  readonly tflops: number;
}

/** A measurement under the roof of its device. */
export interface RooflinePoint {
  readonly measurement: Measurement;
  /** FLOP per byte of memory traffic, if every buffer is moved once. */
  readonly intensity: number;
  /** TFLOP/s. */
  readonly reached: number;
  /** TFLOP/s at this intensity: the ceiling, or the limit of memory at its measured bandwidth. */
  readonly predicted: number;
  readonly limit: 'memory' | 'arithmetic';
}

/** The roofline model of a device with its measurements (Williams, Waterman & Patterson, 2009). */
export interface Roofline {
  readonly ceilings: readonly Ceiling[];
  /** GB/s. */
  readonly bandwidth: number;
  readonly points: readonly RooflinePoint[];
}

/**
 * The TFLOP/s that a device can reach at an intensity in FLOP per byte, limited by memory (GB/s) or by a peak
 * in TFLOP/s.
 */
export function attainable(
  intensity: number,
  { peak, bandwidth }: { readonly peak: number; readonly bandwidth: number },
): { readonly reached: number; readonly limit: 'memory' | 'arithmetic' } {
  const fromMemory = (intensity * bandwidth) / 1000;
  return fromMemory < peak
    ? { reached: fromMemory, limit: 'memory' }
    : { reached: peak, limit: 'arithmetic' };
}

/** The roofline of a report; null if no peak was measured. */
export function rooflineOf({ peak, attention }: DeviceReport): Roofline | null {
  if (!peak || peak.matmuls.length === 0) return null;
  const bandwidth = peak.gigabytesPerSecond;
  const ceilings = [...peak.matmuls].sort((a, b) => a.tflops - b.tflops);
  const inF32 = ceilings.find(({ precision }) => precision === 'f32') ?? ceilings[0];
  const best = ceilings[ceilings.length - 1];
  const stored = attention?.settings.dtype ?? 'f32';
  const measured = attention?.machine.engine === 'webgpu' ? attention.measurements : [];
  const points = measured.flatMap((measurement): RooflinePoint[] => {
    const reached = teraflops(measurement);
    if (reached === undefined || measurement.bytes === 0) return [];
    const intensity = measurement.flops / measurement.bytes;
    const ceiling = stored === 'f32' || measurement.implementation === 'naive' ? inF32 : best;
    const { reached: predicted, limit } = attainable(intensity, { peak: ceiling.tflops, bandwidth });
    return [{ measurement, intensity, reached, predicted, limit }];
  });
  return { ceilings, bandwidth, points };
}
