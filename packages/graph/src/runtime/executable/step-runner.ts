import type { TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Program } from '../../ir/program/program.ts';
import { nameOf } from '../steps/prepare-step.ts';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { traced } from '../traced.ts';
import type { BoundTensors } from './bound-tensors.ts';
import { createChanges } from './changes.ts';
import { type JoinedSteps, joinSteps } from './joined-steps.ts';
import type { RunContext } from './run-contexts.ts';

/** Runs the steps of a program, and keeps them bound to tensors that recur. */
export interface StepRunner<T> {
  /**
   * Runs the steps in order, and reads back the numbers that they need and the host does not know.
   * @param trace receives the names of the steps that a host engine runs.
   * @returns false after the first step that returns false; a promise if a step is asynchronous or a number
   * is read back.
   */
  run(bound: BoundTensors<T>, context: RunContext<T>, trace?: WorkTrace): Promise<boolean> | boolean;
  /** Unbinds the steps from the tensors that recurred. */
  unbind(): void;
}

/** A run of a program. */
interface Run<T> {
  readonly context: RunContext<T>;
  /** Whether every step last ran on the tensors of this run. */
  readonly isRepeated: boolean;
  readonly trace: WorkTrace | undefined;
}

/** @param steps the prepared steps of the program. */
export function createStepRunner<T extends TensorDesc>(
  engine: TensorEngine<T>,
  program: Program,
  steps: readonly PreparedStep<T>[],
): StepRunner<T> {
  const changes = createChanges(program, steps);
  /** The joined works of steps on the tensors of the last run, by the index of their first step. */
  let joined: readonly (JoinedSteps | undefined)[] = [];
  /** The number of runs, up to now, in which every step has run on the tensors of its last run. */
  let repeats = 0;

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

  function runStep(n: number, { context, isRepeated }: Run<T>): Promise<boolean> | boolean {
    const work = isRepeated && steps[n].work;
    if (!work) return steps[n].run(context, changes.isSame(n));
    work.run();
    return true;
  }

  /** Runs the steps from the index `first` on. */
  function runFrom(first: number, run: Run<T>): Promise<boolean> | boolean {
    const { context, trace } = run;
    for (let n = first; n < steps.length; n++) {
      const own = trace ? undefined : joined[n];
      if (own) {
        own.work.run();
        n = own.last;
        continue;
      }
      for (const value of steps[n].numbers) {
        if (context.known(value)) continue;
        return engine.download(context.tensor(value)).then(numbers => {
          context.read.set(value, numbers.toFloat64());
          return runFrom(n, run);
        });
      }
      const done =
        trace && !engine.recording
          ? traced(trace, nameOf(program.steps[n]), () => runStep(n, run))
          : runStep(n, run);
      if (typeof done !== 'boolean') return done.then(isDone => isDone && runFrom(n + 1, run));
      if (!done) return false;
    }
    return true;
  }

  return {
    run: (bound, context, trace) => runFrom(0, { context, isRepeated: begin(bound), trace }),
    unbind() {
      unjoin();
      for (const step of steps) step.unbind?.();
      changes.release();
    },
  };
}
