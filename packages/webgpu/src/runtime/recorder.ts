import { checkFunction, InvalidArgumentError } from '@tilewise/core';
import { beginPass, type ComputePass } from '../device/compute-pass.ts';
import { gpuWork, noteFailure } from '../device/gpu-work.ts';
import { workQueue } from '../device/work-queue.ts';
import type { GpuMemory } from './gpu-memory.ts';
import type { PlanRun } from './plan/kernel-plan.ts';

/** The work that an engine records at once. */
interface RecordedRun {
  readonly run: PlanRun;
  /** Called once the run is submitted. */
  afterwards(): void;
}

/** Where an engine records: in a pass of the caller, or in a list that it submits itself. */
type Open = { readonly pass: ComputePass } | { readonly runs: RecordedRun[] };

/**
 * Records what an engine runs: in a pass of its own, which is submitted when the outermost `batch` ends and
 * all kernels are compiled, or in one of the caller.
 */
export class Recorder {
  readonly #ctx: GpuMemory;
  #current: Open | null = null;

  constructor(ctx: GpuMemory) {
    this.#ctx = ctx;
  }

  /** Whether the caller submits what is being recorded. */
  get isCallers(): boolean {
    return this.#current !== null && 'pass' in this.#current;
  }

  /** Records a run, in the batch that is open or in one of its own. */
  record({ run, afterwards }: RecordedRun): void {
    const open = this.#current;
    const { trace } = this.#ctx;
    const recorded = { run: trace ? { ...run, encode: trace.bound(run.encode) } : run, afterwards };
    if (!open) this.#submit([recorded]);
    else if ('runs' in open) open.runs.push(recorded);
    else {
      workQueue(this.#ctx.device).demandUnused(recorded.run.buffers);
      recorded.run.encode(open.pass);
    }
  }

  /**
   * Submits at once what is recorded in `work`, or in its turn where kernels are to be compiled first.
   * @throws InvalidArgumentError for what is no function.
   */
  batch(work: () => void): void {
    checkFunction('work', work);
    if (this.#current) {
      work();
      return;
    }
    this.#ctx.checkAlive();
    const runs: RecordedRun[] = [];
    this.#recordIn({ runs }, work);
    if (runs.length > 0) this.#submit(runs);
  }

  /**
   * Lets `work` record in the caller's encoder or pass.
   * @throws InvalidArgumentError for anything else.
   */
  encode(target: object, work: () => void): void {
    checkFunction('work', work);
    this.#ctx.checkAlive();
    if (isPass(target)) {
      this.#recordIn({ pass: target }, work);
    } else if (isEncoder(target)) {
      const pass = beginPass(target, this.#ctx.trace);
      try {
        this.#recordIn({ pass }, work);
      } finally {
        pass.end();
      }
    } else {
      throw new InvalidArgumentError('target', 'must be a GPUCommandEncoder or a GPUComputePassEncoder');
    }
  }

  #recordIn(open: Open, work: () => void): void {
    const outer = this.#current;
    this.#current = open;
    try {
      work();
    } finally {
      this.#current = outer;
    }
  }

  #submit(recorded: readonly RecordedRun[]): void {
    const { device } = this.#ctx;
    const run = (): void => {
      this.#ctx.checkAlive();
      gpuWork(device, () => {
        const encoder = device.createCommandEncoder({ label: 'tilewise' });
        const pass = beginPass(encoder, this.#ctx.trace);
        for (const each of recorded) each.run.encode(pass);
        pass.end();
        device.queue.submit([encoder.finish()]);
      });
      for (const each of recorded) each.afterwards();
    };
    const queue = workQueue(device);
    const uncompiled = recorded.filter(each => !each.run.isCompiled);
    if (uncompiled.length === 0 && queue.isIdle) {
      run();
      return;
    }
    queue.add({
      ready: Promise.all(uncompiled.map(each => each.run.compile())),
      buffers: recorded.flatMap(each => each.run.buffers),
      run,
      fail: error =>
        noteFailure(
          recorded.flatMap(each => each.run.written),
          error,
        ),
    });
  }
}

function isPass(target: object): target is GPUComputePassEncoder {
  return 'dispatchWorkgroups' in target;
}

function isEncoder(target: object): target is GPUCommandEncoder {
  return 'beginComputePass' in target;
}
