import { summary, type Timing } from '../timing.ts';
import { mapRead, usage } from './usage.ts';

/** Records work into a pass; `round` counts the runs, so that each can take other inputs. */
export type Encode = (pass: GPUComputePassEncoder, round: number) => void;

/** What a GPU time was measured with: the GPU's own clock around a pass, or this process's around submission and completion. */
export type ClockKind = 'timestamps' | 'wall clock';

/** Times passes on one device. */
export interface GpuClock {
  readonly kind: ClockKind;
  /**
   * Milliseconds that the work took: of one run, where it is recorded `count` times into one pass. Run n of a round counts as round
   * `round · count + n`.
   */
  once(encode: Encode, round: number, count?: number): Promise<number>;
  destroy(): void;
}

/** Timestamps where the device has them. */
export function gpuClock(device: GPUDevice): GpuClock {
  return device.features.has('timestamp-query') ? timestampClock(device) : wallClock(device);
}

function wallClock(device: GPUDevice): GpuClock {
  return {
    kind: 'wall clock',
    async once(encode, round, count = 1) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let n = 0; n < count; n++) encode(pass, round * count + n);
      pass.end();
      const commands = encoder.finish();
      const start = performance.now();
      device.queue.submit([commands]);
      await device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / count;
    },
    destroy() {},
  };
}

function timestampClock(device: GPUDevice): GpuClock {
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({
    size: 16,
    usage: usage.QUERY_RESOLVE | usage.COPY_SRC,
  });
  const staging = device.createBuffer({ size: 16, usage: usage.MAP_READ | usage.COPY_DST });
  return {
    kind: 'timestamps',
    async once(encode, round, count = 1) {
      const encoder = device.createCommandEncoder();
      const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
      const pass = encoder.beginComputePass({ timestampWrites });
      for (let n = 0; n < count; n++) encode(pass, round * count + n);
      pass.end();
      encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(mapRead);
      const [begin, end] = new BigUint64Array(staging.getMappedRange());
      staging.unmap();
      return Number(end - begin) / 1e6 / count;
    },
    destroy() {
      querySet.destroy();
      resolved.destroy();
      staging.destroy();
    },
  };
}

export interface RoundsOptions {
  /** At least so many timed runs, 3 by default. */
  readonly repeats?: number;
  /** Go on for so long, 300 milliseconds by default, counting the waiting too. */
  readonly ms?: number;
  /** But no more runs than this, 100 by default. */
  readonly most?: number;
}

/**
 * Times several pieces of work in turn, round after round, so that whatever else the machine does slows all of them down alike. Each
 * has run before: the first run compiles.
 */
export async function timeInTurn(
  works: readonly ((round: number) => Promise<number>)[],
  { repeats = 3, ms = 300, most = 100 }: RoundsOptions = {},
): Promise<Timing[]> {
  const times: number[][] = works.map(() => []);
  const start = performance.now();
  for (let round = 1; round <= most; round++) {
    for (const [n, work] of works.entries()) times[n].push(await work(round));
    if (round >= repeats && performance.now() - start > ms * works.length) break;
  }
  return times.map(summary);
}

/** Dawn rounds timestamps to 65 µs, and a submission takes about as long: what is timed lasts a hundred times that. */
const leastMs = 8;
const mostRuns = 256;

/** Times GPU work in turn, after a warm-up: each so many times in one pass that the clock can see it. */
export async function timePasses(clock: GpuClock, encodes: readonly Encode[]): Promise<Timing[]> {
  const works: ((round: number) => Promise<number>)[] = [];
  for (const encode of encodes) {
    await clock.once(encode, 0);
    const ms = await clock.once(encode, 1);
    const count = Math.max(1, Math.min(mostRuns, Math.ceil(leastMs / ms)));
    works.push(round => clock.once(encode, round, count));
  }
  return timeInTurn(works);
}
