import type { TilewiseError } from '@tilewise/core';
import type { GpuContext } from '../device/context.ts';
import { withFaults } from '../device/faults.ts';

/** Records what an engine runs: several things in one pass, which is submitted when the outermost `batch` ends. */
export class Recorder {
  readonly #ctx: GpuContext;
  #pass: GPUComputePassEncoder | undefined;
  /** What went wrong in submissions, once it is known. */
  readonly #faults: Promise<TilewiseError | undefined>[] = [];

  constructor(ctx: GpuContext) {
    this.#ctx = ctx;
  }

  /** Lets `work` record, in the pass that is being recorded or in one of its own. */
  record(work: (pass: GPUComputePassEncoder) => void): void {
    this.batch(() => {
      if (this.#pass) work(this.#pass);
    });
  }

  /** Submits at once what is recorded in `work`. */
  batch(work: () => void): void {
    if (this.#pass) {
      work();
      return;
    }
    const { device } = this.#ctx;
    this.#ctx.checkAlive();
    const { fault } = withFaults(device, () => {
      const encoder = device.createCommandEncoder({ label: 'tilewise' });
      const pass = encoder.beginComputePass({ label: 'tilewise' });
      this.#pass = pass;
      try {
        work();
      } finally {
        this.#pass = undefined;
        pass.end();
      }
      device.queue.submit([encoder.finish()]);
    });
    this.#faults.push(fault);
  }

  /** Rejects with the first thing that went wrong in the submissions so far. */
  async settle(): Promise<void> {
    const faults = await Promise.all(this.#faults.splice(0));
    const first = faults.find(fault => fault !== undefined);
    if (first) throw first;
  }
}
