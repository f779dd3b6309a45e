import type { TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fitToKernels } from '../../compile/attention/fit-to-kernels.ts';
import type { Program } from '../../ir/program/program.ts';
import type { BoundTensors } from './bound-tensors.ts';
import { createChanges } from './changes.ts';
import { createHostNumbers } from './host-numbers.ts';
import { type JoinedSteps, joinSteps } from './joined-steps.ts';
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
  const changes = createChanges(program, steps);
  const { runStep, runFrom } = createStepRunner(engine, program.steps, steps, changes);
  const needed = steps.flatMap(step => step.numbers);
  const areRecorded = steps.every(step => step.isRecorded);
  /** The joined works of steps on the tensors of the last run, by the index of their first step. */
  let joined: readonly (JoinedSteps | undefined)[] = [];
  /** The number of runs, up to now, in which every step has run on the tensors of its last run. */
  let repeats = 0;

  const isRecordable = (bound: BoundTensors<T>): boolean =>
    areRecorded && needed.every(n => hostNumbers(n, bound) !== undefined);

  /** Begins a run; returns whether every step last ran on these tensors. */
  function begin(bound: BoundTensors<T>): boolean {
    repeats = changes.begin(bound) ? repeats + 1 : 0;
    if (!repeats) unjoin();
    // In the first of these runs, steps bind their work.
    else if (repeats > 1 && !joined.length) joined = joinSteps(engine.primitives, steps);
    return repeats > 0;
  }

  function unjoin(): void {
    for (const own of joined) own?.work.release();
    joined = [];
  }

  function prepare(bound: BoundTensors<T>, isKept: boolean): (() => void) | null {
    const context = contexts.of(bound);
    for (const n of needed) context.numbers(n);
    if (steps.some(step => step.ready?.(context.numbers, isKept) === false)) return null;
    if (isKept) {
      return () => {
        for (const step of steps) step.run(context, false);
      };
    }
    return () => {
      const isRepeated = begin(bound);
      for (let n = 0; n < steps.length; n++) {
        const own = joined[n];
        if (own) {
          own.work.run();
          n = own.last;
        } else runStep(n, { context, isRepeated });
      }
    };
  }

  function unbind(): void {
    unjoin();
    for (const step of steps) step.unbind?.();
    changes.release();
    contexts.clear();
  }

  return {
    get workspaceBytes() {
      return prepared.bytes + scratch.bytes;
    },
    isRecordable,
    prepare,
    run(bound, trace) {
      if (recording && isRecordable(bound)) {
        const work = prepare(bound, false);
        if (work) engine.batch(work);
        return work !== null;
      }
      const isRepeated = begin(bound);
      const [whole] = joined;
      if (whole?.last === steps.length - 1 && !trace) {
        whole.work.run();
        return true;
      }
      return runFrom(0, { context: contexts.of(bound), isRepeated, trace });
    },
    unbind,
    release() {
      unbind();
      prepared.release();
    },
  };
}
