import type { Encode, GpuClock } from '@tilewise/webgpu/tune';
import type { BenchGpu } from './open-webgpu.ts';

/** The milliseconds of load after which an H100, which had been idle, gave steady times. */
const loadMs = 1500;

/**
 * Runs work before it is timed. While this process prepares inputs, the GPU is idle and lowers its clock
 * rate; it does not raise the rate at once.
 */
export async function raiseClocks({ kind }: BenchGpu, clock: GpuClock, encode: Encode): Promise<void> {
  const end = performance.now() + (kind === 'hardware' ? loadMs : 0);
  while (performance.now() < end) await clock.once(encode, 0, 64);
}
