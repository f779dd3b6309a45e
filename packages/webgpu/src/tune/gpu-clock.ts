import { checkKind } from '../device/check-kind.ts';
import { bufferUsage, mapModeRead } from '../device/webgpu-flags.ts';

/** Records work into a pass; `round` counts the runs, so that each can take other inputs. */
export type Encode = (pass: GPUComputePassEncoder, round: number) => void;

/**
 * The clock of a measurement: the GPU's own around a pass, or this process's around submission and
 * completion.
 */
export type ClockKind = 'timestamps' | 'wall clock';

/** Times passes on one device. */
export interface GpuClock {
  readonly kind: ClockKind;
  /**
   * Milliseconds that the work took: of one run, where it is recorded `count` times into one pass. Run n of a
   * round counts as round `round · count + n`.
   */
  once(encode: Encode, round: number, count?: number): Promise<number>;
  destroy(): void;
}

/**
 * Timestamps may be rounded to 100 µs, and a submission takes about as long: what is timed lasts much longer.
 */
const leastMs = 8;
const mostRuns = 256;

/** How often work of so many milliseconds is recorded into one pass, so that the clock can see it. */
export const runsPerPass = (ms: number): number => Math.max(1, Math.min(mostRuns, Math.ceil(leastMs / ms)));

/**
 * Timestamps where the device has the feature `timestamp-query`.
 * @throws InvalidArgumentError for what is no device.
 */
export function gpuClock(device: GPUDevice): GpuClock {
  checkKind('device', device, 'a GPUDevice');
  return device.features.has('timestamp-query') ? timestampClock(device) : wallClock(device);
}

function wallClock(device: GPUDevice): GpuClock {
  return {
    kind: 'wall clock',
    async once(encode, round, count = 1) {
      const encoder = device.createCommandEncoder({ label: 'tilewise clock' });
      recordRuns(encoder.beginComputePass({ label: 'tilewise clock' }), encode, round, count);
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
  const label = 'tilewise clock';
  const { MAP_READ, COPY_SRC, COPY_DST, QUERY_RESOLVE } = bufferUsage;
  const querySet = device.createQuerySet({ label, type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({ label, size: 16, usage: QUERY_RESOLVE | COPY_SRC });
  const staging = device.createBuffer({ label, size: 16, usage: MAP_READ | COPY_DST });
  const timestamps = async (encode: Encode, round: number, count: number): Promise<BigUint64Array> => {
    const encoder = device.createCommandEncoder({ label: 'tilewise clock' });
    const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
    recordRuns(encoder.beginComputePass({ label, timestampWrites }), encode, round, count);
    encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(mapModeRead);
    const values = new BigUint64Array(staging.getMappedRange().slice(0));
    staging.unmap();
    return values;
  };
  return {
    kind: 'timestamps',
    async once(encode, round, count = 1) {
      // A device may start its clock again at any time: such a run is no measurement.
      for (let tries = 0; tries < 3; tries++) {
        const [begin, end] = await timestamps(encode, round, count);
        if (begin <= end) return Number(end - begin) / 1e6 / count;
      }
      return Infinity;
    },
    destroy() {
      querySet.destroy();
      resolved.destroy();
      staging.destroy();
    },
  };
}

function recordRuns(pass: GPUComputePassEncoder, encode: Encode, round: number, count: number): void {
  for (let n = 0; n < count; n++) encode(pass, round * count + n);
  pass.end();
}
