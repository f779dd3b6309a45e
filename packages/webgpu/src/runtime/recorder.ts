import { checkFunction, type Tensor } from '@tilewise/core';
import { beginPass, recordIn } from '../device/compute-pass.ts';
import { noteFailure, submitWork } from '../device/gpu-work.ts';
import { type OpenBatch, workQueue } from '../device/work-queue.ts';
import type { GpuMemory } from './memory/gpu-memory.ts';
import type { GpuTensor } from './memory/gpu-tensor.ts';
import type { RecordedCopy, SubmittedCopy } from './memory/read-back.ts';
import type { ReadyRun } from './plan/kernel-plan.ts';

/** A run that an engine records, with its follow-up. */
interface RecordedRun {
  readonly run: ReadyRun;
  /** Called once the run is submitted. */
  afterwards(): void;
}

/** A copy to the host that is submitted after the runs of a batch. */
interface WaitingCopy {
  readonly buffer: GPUBuffer;
  readonly copy: RecordedCopy;
  resolve(submitted: SubmittedCopy): void;
  reject(error: unknown): void;
}

/** The work of a batch, which the engine submits itself, or which the caller submits. */
interface Batch {
  readonly runs: RecordedRun[];
  readonly copies: WaitingCopy[];
  /** The caller's encoder or pass, to which the runs are written once all of them are known. */
  readonly target?: object;
}

/**
 * Records the work of an engine: in its own pass, which is submitted when the outermost `batch` ends and all
 * kernels are compiled, or in a pass of the caller.
 */
export class Recorder {
  readonly #ctx: GpuMemory;
  #current: Batch | null = null;

  constructor(ctx: GpuMemory) {
    this.#ctx = ctx;
  }

  /** Whether the current recording is submitted by the caller. */
  get isCallers(): boolean {
    return this.#current?.target !== undefined;
  }

  /** Whether recorded work that has not been submitted may use a buffer. */
  uses(buffer: GPUBuffer): boolean {
    return this.#current !== null && buffersOf(this.#current).includes(buffer);
  }

  /** Records a run, in the open batch or in its own batch. */
  record({ run, afterwards }: RecordedRun): void {
    const open = this.#current;
    const { trace } = this.#ctx;
    const recorded = { run: trace ? { ...run, encode: trace.bound(run.encode) } : run, afterwards };
    if (open) open.runs.push(recorded);
    else this.#submit({ runs: [recorded], copies: [] });
  }

  /**
   * Submits everything that `work` records, at once or, if kernels must be compiled first, after their
   * compilation. If `work` makes an eager call, or downloads by the context, what it has recorded so far is
   * submitted first. Tensors that it releases keep their memory until the end of the batch.
   * @throws InvalidArgumentError if `work` is not a function.
   */
  batch(work: () => void): void {
    checkFunction('work', work);
    if (this.#current) {
      work();
      return;
    }
    this.#ctx.checkAlive();
    const batch: Batch = { runs: [], copies: [] };
    const queue = workQueue(this.#ctx.device);
    const outer = queue.batch;
    const own: OpenBatch = {
      submit: () => {
        queue.batch = outer;
        this.#submit({ runs: batch.runs.splice(0), copies: [] });
        queue.batch = own;
      },
      uses: buffer => buffersOf(batch).includes(buffer) || outer?.uses(buffer),
      afterwards: [],
    };
    queue.batch = own;
    try {
      try {
        this.#recordIn(batch, work);
      } finally {
        queue.batch = outer;
      }
      this.#submit(batch);
    } catch (error) {
      for (const { reject } of batch.copies) reject(error);
      throw error;
    } finally {
      for (const run of own.afterwards) queue.afterwards(run);
    }
  }

  /**
   * Reads a tensor back. In a batch, reads its content at the end of the batch, with the batch's submission;
   * if the batch fails before its submission, rejects with its error, which nobody needs to handle.
   */
  download(tensor: GpuTensor): Promise<Tensor> {
    const open = this.#current;
    if (!open || open.target) return this.#ctx.download(tensor);
    const read = this.#ctx.readBack(
      tensor,
      copy =>
        new Promise((resolve, reject) => {
          const fail = (error: unknown): void => {
            read.catch(() => {});
            reject(error);
          };
          open.copies.push({ buffer: tensor.buffer, copy, resolve, reject: fail });
        }),
    );
    return read;
  }

  /**
   * Calls `work`, and records what it runs in the caller's encoder or pass. If a call is inside another one
   * with the same target, the outer call records all of it.
   * @throws InvalidArgumentError if `target` is neither, or if a buffer is used by work that waits. In both
   * cases, and if `work` throws, nothing is recorded.
   */
  encode(target: object, work: () => void): void {
    checkFunction('work', work);
    this.#ctx.checkAlive();
    if (this.#current?.target === target) {
      work();
      return;
    }
    const open: Batch = { runs: [], copies: [], target };
    this.#recordIn(open, work);
    workQueue(this.#ctx.device).demandUnused(buffersOf(open));
    recordIn(target, this.#ctx.trace, pass => {
      for (const { run } of open.runs) run.encode(pass);
    });
  }

  #recordIn(open: Batch, work: () => void): void {
    const outer = this.#current;
    this.#current = open;
    try {
      work();
    } finally {
      this.#current = outer;
    }
  }

  #submit(batch: Batch): void {
    const { runs, copies } = batch;
    if (runs.length + copies.length === 0) return;
    const { device } = this.#ctx;
    const submit = (): void => {
      this.#ctx.checkAlive();
      const { result, fault } = submitWork(device, encoder => {
        const pass = beginPass(encoder, this.#ctx.trace);
        for (const each of runs) each.run.encode(pass);
        pass.end();
        const maps = copies.map(({ copy }) => copy(encoder));
        return () => maps.map(map => map());
      });
      for (const [n, { resolve }] of copies.entries()) resolve({ result: result[n], fault });
      for (const each of runs) each.afterwards();
    };
    const uncompiled = runs.filter(each => !each.run.isCompiled());
    workQueue(device).run({
      ready: uncompiled.length > 0 ? Promise.all(uncompiled.map(each => each.run.compile())) : undefined,
      buffers: () => buffersOf(batch),
      run: submit,
      fail(error) {
        noteFailure(
          runs.flatMap(each => each.run.written),
          error,
        );
        for (const { reject } of copies) reject(error);
      },
    });
  }
}

/** The buffers that a batch reads or writes. */
function buffersOf({ runs, copies }: Batch): GPUBuffer[] {
  return [...runs.flatMap(({ run }) => run.buffers), ...copies.map(({ buffer }) => buffer)];
}
