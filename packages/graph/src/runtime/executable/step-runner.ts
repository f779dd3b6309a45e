import type { TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Step } from '../../ir/program/program.ts';
import { nameOf } from '../steps/prepare-step.ts';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { traced } from '../traced.ts';
import type { Changes } from './changes.ts';
import type { RunContext } from './run-contexts.ts';

/** A run of a program. */
export interface Run<T> {
  readonly context: RunContext<T>;
  /** True if every step last ran on the tensors of this run. */
  readonly isRepeated: boolean;
  /** Receives the names of the steps that a host engine runs. */
  readonly trace?: WorkTrace | undefined;
}

/** Runs the steps of a program. */
export interface StepRunner<T> {
  /** Runs one step, with the result of its `run`. */
  runStep(n: number, run: Run<T>): Promise<boolean> | boolean;
  /**
   * Runs the steps from `first` on, and reads back the numbers that they need and the host does not know.
   * @returns false after the first step that returns false; a promise if a step is asynchronous or a number
   * is read back.
   */
  runFrom(first: number, run: Run<T>): Promise<boolean> | boolean;
}

/** @param written the steps of the program, for their names in a trace. */
export function createStepRunner<T extends TensorDesc>(
  engine: TensorEngine<T>,
  written: readonly Step[],
  steps: readonly PreparedStep<T>[],
  changes: Changes<T>,
): StepRunner<T> {
  function runStep(n: number, { context, isRepeated }: Run<T>): Promise<boolean> | boolean {
    const work = isRepeated && steps[n].work;
    if (!work) return steps[n].run(context, changes.isSame(n));
    work.run();
    return true;
  }

  function runFrom(first: number, run: Run<T>): Promise<boolean> | boolean {
    const { context, trace } = run;
    for (let n = first; n < steps.length; n++) {
      for (const value of steps[n].numbers) {
        if (context.known(value)) continue;
        return engine.download(context.tensor(value)).then(numbers => {
          context.read.set(value, numbers.toFloat64());
          return runFrom(n, run);
        });
      }
      const done =
        trace && !engine.recording
          ? traced(trace, nameOf(written[n]), () => runStep(n, run))
          : runStep(n, run);
      if (typeof done !== 'boolean') return done.then(isDone => isDone && runFrom(n + 1, run));
      if (!done) return false;
    }
    return true;
  }

  return { runStep, runFrom };
}
