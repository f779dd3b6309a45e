import { InvalidArgumentError, UnsupportedError } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { ComputePass, PassTrace } from '../device/compute-pass.ts';
import { readTimestamps } from '../device/timestamps.ts';
import { workQueue } from '../device/work-queue.ts';
import type { TraceRecord } from './trace-events.ts';

/**
 * The number of kernels that one query set times. WebGPU allows 4096 queries in a set, and a kernel needs
 * two.
 */
const kernelsPerSet = 2048;

type TimedKernel = Omit<TraceRecord, 'where' | 'start' | 'end'>;

interface TimedSet {
  readonly queries: GPUQuerySet;
  readonly kernels: TimedKernel[];
}

/**
 * Times the kernels of a context with the timestamps of its GPU, and the parts of graphs with the clock of
 * this thread. Each kernel runs in its own pass, labelled with the kernel's name.
 */
export class GpuTrace implements WorkTrace, PassTrace {
  #device: GPUDevice | undefined;
  #sets: TimedSet[] = [];
  #host: TraceRecord[] = [];
  #parts: readonly string[] = [];
  #passes = 0;

  /**
   * Prepares the trace for a device; `createContext` calls this.
   * @throws UnsupportedError for a device without the feature `timestamp-query`; InvalidArgumentError for a
   * second device.
   */
  attach(device: GPUDevice): void {
    if (!device.features.has('timestamp-query')) {
      const reason =
        "the device lacks the feature 'timestamp-query', which a trace needs: request the feature";
      throw new UnsupportedError('webgpu', [reason]);
    }
    if (this.#device && this.#device !== device)
      throw new InvalidArgumentError('trace', 'already times another device: make one trace for each device');
    this.#device = device;
  }

  enter(part: string): () => void {
    const outer = this.#parts;
    const parts = [...outer, part];
    this.#parts = parts;
    const start = performance.now();
    return () => {
      this.#parts = outer;
      const ms = performance.now() - start;
      this.#host.push({
        name: part,
        where: 'host',
        start: 1e6 * start,
        end: 1e6 * (start + ms),
        parts: outer,
        pass: 0,
        workgroups: 0,
      });
    };
  }

  bound<A>(work: (argument: A) => void): (argument: A) => void {
    const parts = this.#parts;
    return argument => {
      const outer = this.#parts;
      this.#parts = parts;
      try {
        work(argument);
      } finally {
        this.#parts = outer;
      }
    };
  }

  beginPass(encoder: GPUCommandEncoder): ComputePass {
    const pass = this.#passes++;
    let pipeline: GPUComputePipeline | undefined;
    const groups = new Map<number, GPUBindGroup>();
    return {
      setPipeline(given) {
        pipeline = given;
      },
      setBindGroup(index, group) {
        groups.set(index, group);
      },
      dispatchWorkgroups: (x, y = 1, z = 1) => {
        if (!pipeline) return;
        const label = pipeline.label || 'tilewise';
        const timestampWrites = this.#queriesFor({
          name: label,
          parts: this.#parts,
          pass,
          workgroups: x * y * z,
        });
        const own = encoder.beginComputePass({ label, timestampWrites });
        own.setPipeline(pipeline);
        for (const [index, group] of groups) own.setBindGroup(index, group);
        own.dispatchWorkgroups(x, y, z);
        own.end();
      },
      end() {},
    };
  }

  #queriesFor(kernel: TimedKernel): GPUComputePassTimestampWrites {
    let set = this.#sets.at(-1);
    if (!set || set.kernels.length === kernelsPerSet) {
      if (!this.#device) throw new InvalidArgumentError('trace', 'is not attached to a context');
      set = {
        queries: this.#device.createQuerySet({
          label: 'tilewise trace',
          type: 'timestamp',
          count: 2 * kernelsPerSet,
        }),
        kernels: [],
      };
      this.#sets.push(set);
    }
    const first = 2 * set.kernels.push(kernel) - 2;
    return { querySet: set.queries, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
  }

  /**
   * The kernels timed since the last call, in the order of recording; times are in nanoseconds. Waits for the
   * GPU. Kernels in an encoder that the caller has not submitted are omitted.
   */
  async take(): Promise<TraceRecord[]> {
    const device = this.#device;
    if (device) await workQueue(device).settled();
    const sets = this.#sets;
    const host = this.#host;
    this.#sets = [];
    this.#host = [];
    if (!device) return host;
    const timed = await Promise.all(sets.map(set => readSet(device, set)));
    return [...host, ...timed.flat()];
  }
}

async function readSet(device: GPUDevice, { queries, kernels }: TimedSet): Promise<TraceRecord[]> {
  const encoder = device.createCommandEncoder({ label: 'tilewise trace' });
  const times = await readTimestamps(device, encoder, queries, 2 * kernels.length);
  const timed = kernels.flatMap((kernel, n) => {
    const [start, end] = [Number(times[2 * n]), Number(times[2 * n + 1])];
    return end === 0 ? [] : [{ ...kernel, where: 'gpu' as const, start, end: Math.max(start, end) }];
  });
  // An encoder with the other kernels, which the caller may yet submit, refers to the query set.
  if (timed.length === kernels.length) queries.destroy();
  return timed;
}
