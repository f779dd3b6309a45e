import type { Encode, GpuClock } from '@tilewise/webgpu/tune';
import type { BenchGpu } from './open-webgpu.ts';

/** The time in milliseconds after which a GPU under load runs at its full clock rate. */
const loadMs = 500;

/**
 * Runs work for a while before it is timed. A GPU that was idle while this process prepared inputs has
 * lowered its clock rate, and an H100 takes more than the first milliseconds of work to raise the rate again.
 */
export async function raiseClocks({ kind }: BenchGpu, clock: GpuClock, encode: Encode): Promise<void> {
  const end = performance.now() + (kind === 'hardware' ? loadMs : 0);
  while (performance.now() < end) await clock.once(encode, 0, 64);
}
