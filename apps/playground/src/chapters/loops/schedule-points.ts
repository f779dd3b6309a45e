import { attainable } from '@tilewise/device-report';
import { totalTraffic } from '../../logic/schedule/loop-order.ts';
import { bytesMoved, flops, naiveBytesMoved } from '../../logic/schedule/roofline.ts';

export const sequence = 4096;
export const headSize = 128;
const bytesPerElement = 2;
const schedules = ['naive', 'outer-product', 'inner-product'] as const;

/** An algorithm for attention, by what it moves to and from slow memory. */
export type Schedule = (typeof schedules)[number];

export const colors: Readonly<Record<Schedule, string>> = {
  naive: 'var(--bad)',
  'outer-product': 'var(--write)',
  'inner-product': 'var(--read)',
};

/** A device: its fastest arithmetic in TFLOP/s, and its bandwidth in GB/s. */
export interface Speeds {
  readonly peak: number;
  readonly bandwidth: number;
}

/** The arithmetic intensity of a schedule in FLOP per byte, and the speed that it can reach in TFLOP/s. */
export interface SchedulePoint extends ReturnType<typeof attainable> {
  readonly schedule: Schedule;
  readonly intensity: number;
}

/** The schedules on a device, with tiles of `tile` rows. */
export function schedulePoints(tile: number, speeds: Speeds): readonly SchedulePoint[] {
  return schedules.map(schedule => {
    const intensity = intensityOf(schedule, tile);
    return { schedule, intensity, ...attainable(intensity, speeds) };
  });
}

/** FLOP per byte of slow memory, with tiles of `tile` rows. */
function intensityOf(schedule: Schedule, tile: number): number {
  const n = sequence / tile;
  const bytes =
    schedule === 'naive'
      ? naiveBytesMoved(n, tile, headSize, bytesPerElement)
      : bytesMoved(totalTraffic(schedule, n), tile, headSize, bytesPerElement);
  return flops(n, tile, headSize) / bytes;
}
