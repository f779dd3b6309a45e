import { checkFunction, InvalidArgumentError } from '@tilewise/core';
import { gpuWork } from '../device/gpu-work.ts';
import type { GpuMemory } from './gpu-memory.ts';

/** Where an engine records at the moment. */
interface OpenPass {
  readonly pass: GPUComputePassEncoder;
  /** What is to be done once this is submitted; null where the caller submits it. */
  readonly afterwards: (() => void)[] | null;
}

/**
 * Records what an engine runs: in a pass of its own, which is submitted when the outermost `batch` ends, or
 * in one of the caller.
 */
export class Recorder {
  readonly #ctx: GpuMemory;
  #current: OpenPass | null = null;

  constructor(ctx: GpuMemory) {
    this.#ctx = ctx;
  }

  /** Lets `work` record, in the pass that is being recorded or in one of its own. */
  record(work: (open: OpenPass) => void): void {
    this.batch(() => {
      if (this.#current) work(this.#current);
    });
  }

  /**
   * Submits at once what is recorded in `work`.
   * @throws InvalidArgumentError for what is no function.
   */
  batch(work: () => void): void {
    checkFunction('work', work);
    if (this.#current) {
      work();
      return;
    }
    this.#ctx.checkAlive();
    const { device } = this.#ctx;
    const afterwards: (() => void)[] = [];
    gpuWork(device, () => {
      const encoder = device.createCommandEncoder({ label: 'tilewise' });
      this.#recordIn(encoder, afterwards, work);
      device.queue.submit([encoder.finish()]);
    });
    for (const task of afterwards) task();
  }

  /**
   * Lets `work` record in the caller's encoder or pass.
   * @throws InvalidArgumentError for anything else.
   */
  encode(target: object, work: () => void): void {
    checkFunction('work', work);
    this.#ctx.checkAlive();
    if (!isEncoder(target) && !isPass(target)) {
      throw new InvalidArgumentError('target', 'must be a GPUCommandEncoder or a GPUComputePassEncoder');
    }
    this.#recordIn(target, null, work);
  }

  #recordIn(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    afterwards: OpenPass['afterwards'],
    work: () => void,
  ): void {
    const outer = this.#current;
    const pass = isPass(target) ? target : target.beginComputePass({ label: 'tilewise' });
    this.#current = { pass, afterwards };
    try {
      work();
    } finally {
      this.#current = outer;
      if (pass !== target) pass.end();
    }
  }
}

function isPass(target: object): target is GPUComputePassEncoder {
  return 'dispatchWorkgroups' in target;
}

function isEncoder(target: object): target is GPUCommandEncoder {
  return 'beginComputePass' in target;
}
