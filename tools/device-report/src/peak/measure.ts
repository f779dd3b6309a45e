import type { GpuContext } from '@tilewise/webgpu';
import { type Encode, type GpuClock, gpuClock } from '@tilewise/webgpu/tune';
import { timePasses } from '../timing/rounds.ts';
import type { PeakPrecision } from './candidate.ts';
import { candidatesFor, matmulDevice } from './candidates.ts';
import { copyBandwidth } from './copy-bandwidth.ts';
import { MatmulBench, type ReadyMatmul } from './matmul-bench.ts';
import { tiledMatmul } from './tiled-matmul.ts';

/** The fastest product found for a precision. */
export interface PeakMatmul {
  readonly precision: PeakPrecision;
  readonly kernel: string;
  readonly ms: number;
  readonly tflops: number;
  /** Encodes the product once more, to time it beside other work; valid until the peak is destroyed. */
  readonly encode: Encode;
}

/** The measured peak of a device, of which other numbers are given as fractions. */
export interface Peak {
  readonly size: number;
  readonly matmuls: readonly PeakMatmul[];
  /** The bandwidth of a copy, counting the bytes read and the bytes written. */
  readonly gigabytesPerSecond: number;
  readonly clock: GpuClock['kind'];
  /** The floating-point operations of one product. */
  readonly flops: number;
  destroy(): void;
}

/** The work that the peak is measured with: enough to fill the device, and short. */
export interface PeakWork {
  /** Rows and columns of the matrices. */
  readonly size: number;
  /** The number of bytes copied at a time, more than caches hold. */
  readonly copiedBytes: number;
}

const mebibyte = 2 ** 20;

/** The work for a workstation's GPU, and for a CPU that emulates a GPU. */
export const peakWork: Readonly<Record<'hardware' | 'software', PeakWork>> = {
  hardware: { size: 4096, copiedBytes: 512 * mebibyte },
  software: { size: 512, copiedBytes: 96 * mebibyte },
};

/** The longest time of a product of the chosen size, in milliseconds. */
const maxMs = 25;

/**
 * The work for a GPU that may be a phone's: a small product is timed first, and the sizes follow from its
 * time.
 */
export async function fittingPeakWork(ctx: GpuContext): Promise<PeakWork> {
  const size = 512;
  const bench = new MatmulBench(ctx, size);
  const clock = gpuClock(ctx.device);
  try {
    const tile = { tx: 8, ty: 8, rows: 2, columns: 2, depth: 16 };
    const ready = await bench.ready(tiledMatmul(size, 'f32', tile, true));
    if (!ready) return peakWork.software;
    const [{ min }] = await timePasses(clock, [ready.encode], { ms: 50 });
    const fits = [4096, 2048, 1024].find(larger => min * (larger / size) ** 3 <= maxMs);
    return { size: fits ?? size, copiedBytes: (fits ? 256 : 96) * mebibyte };
  } finally {
    bench.destroy();
    clock.destroy();
  }
}

/**
 * Measures the peak. A candidate that does not compile or computes something else does not count. `progress`
 * receives messages and the share that is done.
 * @throws Error if no f32 candidate computes the product.
 */
export async function measurePeak(
  ctx: GpuContext,
  work: PeakWork,
  progress: (text: string, share: number) => void,
): Promise<Peak> {
  const { size } = work;
  const matmul = new MatmulBench(ctx, size);
  const clock = gpuClock(ctx.device);
  const right: ReadyMatmul[] = [];
  const candidates = candidatesFor(matmulDevice(ctx), size);
  for (const [n, candidate] of candidates.entries()) {
    progress(`peak: ${candidate.precision} ${candidate.name}`, n / (candidates.length + 2));
    const ready = await matmul.ready(candidate);
    if (ready && (await ready.isRight())) right.push(ready);
  }
  if (!right.some(({ candidate }) => candidate.precision === 'f32')) {
    throw new Error('no f32 matmul computes the right product');
  }
  const times = await timePasses(
    clock,
    right.map(({ encode }) => encode),
  );
  const { flops } = matmul;
  const all = right.map(({ candidate: { precision, name }, encode }, n): PeakMatmul => {
    const ms = times[n].median;
    return { precision, kernel: name, ms, tflops: flops / ms / 1e9, encode };
  });
  progress('peak: copy', 1 - 1 / (candidates.length + 2));
  const gigabytesPerSecond = await copyBandwidth(ctx, clock, work.copiedBytes);
  clock.destroy();
  return {
    ...{ size, matmuls: fastestOfEach(all), gigabytesPerSecond, clock: clock.kind, flops },
    destroy: () => matmul.destroy(),
  };
}

function fastestOfEach(all: readonly PeakMatmul[]): PeakMatmul[] {
  const best = new Map<PeakPrecision, PeakMatmul>();
  for (const one of all) {
    const known = best.get(one.precision);
    if (!known || one.tflops > known.tflops) best.set(one.precision, one);
  }
  return [...best.values()];
}
