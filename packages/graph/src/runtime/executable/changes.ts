import { ownerOf, type Program } from '../../ir/program/program.ts';
import { LastObject } from '../bindings/last-object.ts';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { type BoundTensors, boundTo } from './bound-tensors.ts';

/** Which steps of a program run on the tensors of their last run. */
export interface Changes<T> {
  /** Begins a run; returns whether every step last ran on these tensors. */
  begin(bound: BoundTensors<T>): boolean;
  /** Whether a step that is about to run has the tensors of its last run. */
  isSame(step: number): boolean;
  /** Lets go of the tensors. */
  release(): void;
}

/** Watches the tensors that are bound to the inputs and outputs of a program. */
export function createChanges<T extends object>(
  { values }: Program,
  steps: readonly PreparedStep<T>[],
): Changes<T> {
  const isBound = (n: number): boolean => 'tensor' in values[n];
  /** The bound tensors that each step uses, by value index. */
  const used = steps.map(step => [...new Set(step.values.map(n => ownerOf(n, values)))].filter(isBound));
  const watched = [...new Set(used.flat())].map(n => ({ n, last: new LastObject<T>() }));
  /**
   * The run in which each bound tensor last changed, the latest of these runs, and the last run in which
   * `isSame` was called for each step.
   */
  const changed: number[] = [];
  const ran = steps.map(() => 0);
  let run = 0;
  let lastChange = 0;
  return {
    begin(bound) {
      run++;
      for (const { n, last } of watched) {
        const tensor = boundTo(values[n], bound);
        if (last.is(tensor)) continue;
        last.set(tensor);
        changed[n] = run;
        lastChange = run;
      }
      return ran.every(last => last >= lastChange);
    },
    isSame(step) {
      const last = ran[step];
      ran[step] = run;
      for (const n of used[step]) if (changed[n] > last) return false;
      return last > 0;
    },
    release() {
      for (const { last } of watched) last.release();
    },
  };
}
