import { median } from './bench.ts';

/** Measures work on a GPU. */
export interface GpuClock {
  readonly kind: 'timestamps' | 'wall clock';
  /**
   * Milliseconds that the recorded work takes: the median over rounds, in each of which it runs often enough
   * to be seen.
   */
  time(encode: (pass: GPUComputePassEncoder) => void): Promise<number>;
  destroy(): void;
}

const roundMs = 20;
const rounds = 5;
const mostMs = 1500;

/** The GPU's own clock where the device has one, else the time until the queue is empty. */
export function gpuClock(device: GPUDevice): GpuClock {
  const stamps = device.features.has('timestamp-query') ? timestamps(device) : undefined;
  /** Milliseconds for `count` times the work. */
  async function round(encode: (pass: GPUComputePassEncoder) => void, count: number): Promise<number> {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass(stamps && { timestampWrites: stamps.writes });
    for (let n = 0; n < count; n++) encode(pass);
    pass.end();
    stamps?.resolve(encoder);
    const start = performance.now();
    device.queue.submit([encoder.finish()]);
    const stamped = await stamps?.read();
    if (!stamps) await device.queue.onSubmittedWorkDone();
    const wall = performance.now() - start;
    // A clock that was coarsened to nothing says nothing.
    return stamped || wall;
  }
  return {
    kind: stamps ? 'timestamps' : 'wall clock',
    async time(encode) {
      // The first run may compile and allocates.
      await round(encode, 1);
      const once = await round(encode, 1);
      const count = Math.max(1, Math.min(64, Math.ceil(roundMs / once)));
      const times: number[] = [];
      for (let total = 0; times.length < rounds && (times.length < 2 || total < mostMs); ) {
        const took = await round(encode, count);
        total += took;
        times.push(took / count);
      }
      return median(times);
    },
    destroy: () => stamps?.destroy(),
  };
}

function timestamps(device: GPUDevice) {
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 });
  // The usages QUERY_RESOLVE and COPY_SRC, MAP_READ and COPY_DST.
  const resolved = device.createBuffer({ size: 16, usage: 0x200 | 0x4 });
  const readable = device.createBuffer({ size: 16, usage: 0x1 | 0x8 });
  return {
    writes: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
    resolve(encoder: GPUCommandEncoder): void {
      encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, readable, 0, 16);
    },
    async read(): Promise<number> {
      await readable.mapAsync(0x1);
      const [from = 0n, to = 0n] = new BigUint64Array(readable.getMappedRange());
      readable.unmap();
      return Number(to - from) / 1e6;
    },
    destroy(): void {
      querySet.destroy();
      resolved.destroy();
      readable.destroy();
    },
  };
}
