import { checkKind } from '../device/check-kind.ts';
import { readTimestamps } from '../device/timestamps.ts';

/** Records work into a pass. `round` is the number of the run, so that each run can use different inputs. */
export type Encode = (pass: GPUComputePassEncoder, round: number) => void;

/**
 * The clock of a measurement: the GPU's timestamps around a pass, or the time of this process from submission
 * to completion.
 */
export type ClockKind = 'timestamps' | 'wall clock';

/** Times passes on one device. */
export interface GpuClock {
  /** What the clock reads. */
  readonly kind: ClockKind;
  /**
   * Runs the work and returns the milliseconds that one run took. The work is recorded `count` times into one
   * pass, and the time is divided by `count`; run n of a round is recorded as round `round · count + n`.
   */
  once(encode: Encode, round: number, count?: number): Promise<number>;
  /** Frees the clock's GPU objects. */
  destroy(): void;
}

/**
 * Timestamps may be rounded to 100 µs, and a submission takes about as long, so a measurement must last much
 * longer.
 */
const minMs = 8;
const maxRuns = 256;

/** How often work that takes `ms` milliseconds must be recorded into one pass for a precise measurement. */
export const runsPerPass = (ms: number): number => Math.max(1, Math.min(maxRuns, Math.ceil(minMs / ms)));

/**
 * A clock for a device. It uses timestamps if the device has the feature `timestamp-query`.
 * @throws InvalidArgumentError if `device` is not a GPUDevice.
 */
export function gpuClock(device: GPUDevice): GpuClock {
  checkKind('device', device, 'a GPUDevice');
  return device.features.has('timestamp-query') ? timestampClock(device) : wallClock(device);
}

const label = 'tilewise clock';

function wallClock(device: GPUDevice): GpuClock {
  return {
    kind: 'wall clock',
    async once(encode, round, count = 1) {
      const encoder = device.createCommandEncoder({ label });
      recordRuns(encoder.beginComputePass({ label }), encode, round, count);
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
  const querySet = device.createQuerySet({ label, type: 'timestamp', count: 2 });
  const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
  return {
    kind: 'timestamps',
    async once(encode, round, count = 1) {
      // A device may reset its clock at any time, which makes the measurement of that run invalid.
      for (let tries = 0; tries < 3; tries++) {
        const encoder = device.createCommandEncoder({ label });
        recordRuns(encoder.beginComputePass({ label, timestampWrites }), encode, round, count);
        const [begin, end] = await readTimestamps(device, encoder, querySet, 2);
        if (begin <= end) return Number(end - begin) / 1e6 / count;
      }
      return Infinity;
    },
    destroy() {
      querySet.destroy();
    },
  };
}

function recordRuns(pass: GPUComputePassEncoder, encode: Encode, round: number, count: number): void {
  for (let n = 0; n < count; n++) encode(pass, round * count + n);
  pass.end();
}
