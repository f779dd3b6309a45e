import type { TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fitToKernels } from '../../compile/attention/fit-to-kernels.ts';
import type { Program } from '../../ir/program/program.ts';
import type { BoundTensors } from './bound-tensors.ts';
import { createHostNumbers } from './host-numbers.ts';
import { prepareSteps } from './prepared-program.ts';
import { createRunContexts } from './run-contexts.ts';
import { createStepRunner } from './step-runner.ts';

/** A program with prepared steps and allocated temporaries. */
export interface Executable<T extends TensorDesc> {
  /** The bytes of temporaries and scratch memory. */
  readonly workspaceBytes: number;
  /**
   * Runs the program. Numbers that an attention call needs (scale, seed, …) but the host does not know are
   * read back from the engine.
   * @returns false if the operations with these numbers are not the recognised attention; the results are
   * then incomplete. A promise if a step is asynchronous or a number is read back.
   * @param trace receives the names of the steps that a host engine runs.
   */
  run(bound: BoundTensors<T>, trace?: WorkTrace): Promise<boolean> | boolean;
  /**
   * Whether all steps can be recorded immediately: no step is asynchronous, and the host knows all numbers
   * that attention needs.
   */
  isRecordable(bound: BoundTensors<T>): boolean;
  /**
   * Prepares the program to be recorded immediately.
   * @param isKept whether the prepared calls are kept until `release`, because a caller's encoder may be
   * submitted at any time.
   * @returns a function that runs the program, in a batch or an encoder; null if the operations with these
   * numbers are not the recognised attention.
   * @throws InvalidArgumentError if the host does not know a number that an attention call needs.
   */
  prepare(bound: BoundTensors<T>, isKept: boolean): (() => void) | null;
  /** Whether the engine had no memory for the program, so that its runs fail. */
  isLost(): boolean;
  /** Unbinds the steps from the tensors that recurred, so that the tensors can be reclaimed. */
  unbind(): void;
  release(): void;
}

/** Prepares a program for an engine; on an error it frees everything. */
export function prepareProgram<T extends TensorDesc>(
  engine: TensorEngine<T>,
  written: Program,
): Executable<T> {
  const { recording } = engine;
  const program = engine.prepareAttention ? fitToKernels(written, recording !== undefined) : written;
  const prepared = prepareSteps(engine, program);
  const { steps, scratch } = prepared;
  const hostNumbers = createHostNumbers(program);
  const contexts = createRunContexts(engine, program, prepared, hostNumbers);
  const runner = createStepRunner(engine, program, steps);
  const needed = steps.flatMap(step => step.numbers);
  const areRecorded = steps.every(step => step.isRecorded);

  const isRecordable = (bound: BoundTensors<T>): boolean =>
    areRecorded && needed.every(n => hostNumbers(n, bound) !== undefined);

  function prepare(bound: BoundTensors<T>, isKept: boolean): (() => void) | null {
    const context = contexts.of(bound);
    for (const n of needed) context.numbers(n);
    if (steps.some(step => step.ready?.(context.numbers, isKept) === false)) return null;
    return () => {
      if (!isKept) runner.run(bound, context);
      else for (const step of steps) step.run(context, false);
    };
  }

  function unbind(): void {
    runner.unbind();
    contexts.clear();
  }

  return {
    get workspaceBytes() {
      return prepared.bytes + scratch.bytes;
    },
    isRecordable,
    prepare,
    run(bound, trace) {
      if (!recording || !isRecordable(bound)) return runner.run(bound, contexts.of(bound), trace);
      const work = prepare(bound, false);
      if (work) engine.batch(work);
      return work !== null;
    },
    isLost: prepared.isLost,
    unbind,
    release() {
      unbind();
      prepared.release();
    },
  };
}
