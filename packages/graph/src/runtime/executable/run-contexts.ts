import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Program } from '../../ir/program/program.ts';
import type { StepContext } from '../steps/prepared-step.ts';
import { type BoundTensors, boundTo } from './bound-tensors.ts';
import type { HostNumbers } from './host-numbers.ts';
import type { PreparedProgram } from './prepared-program.ts';
import { recentViews } from './program-tensors.ts';

/** The tensors and numbers of a run, some of which are read back from the engine. */
export interface RunContext<T> extends StepContext<T> {
  /** The numbers that were read back, by value index. */
  readonly read: Map<number, Float64Array>;
  /** The numbers of a value if they are on the host or were read back. */
  known(n: number): Float64Array | undefined;
}

/** Makes the contexts of runs. */
export interface RunContexts<T> {
  of(bound: BoundTensors<T>): RunContext<T>;
  /** Drops the last views of bound tensors. */
  clear(): void;
}

export function createRunContexts<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { values }: Program,
  { fixed, scratch }: PreparedProgram<T>,
  hostNumbers: HostNumbers,
): RunContexts<T> {
  const views = recentViews(engine, values);
  return {
    clear: views.clear,
    of(bound) {
      const found: (T | undefined)[] = [];
      const read = new Map<number, Float64Array>();
      const tensor = (n: number): T => {
        const made = fixed[n] ?? found[n];
        if (made) return made;
        const value = values[n];
        found[n] = value.kind === 'view' ? views.of(n, tensor(value.of)) : boundTo(value, bound);
        return found[n];
      };
      const known = (n: number): Float64Array | undefined => read.get(n) ?? hostNumbers(n, bound);
      return {
        tensor,
        read,
        known,
        numbers(n) {
          const numbers = known(n);
          if (numbers) return numbers;
          const value = values[n];
          throw new InvalidArgumentError(
            value.kind === 'input' ? `tensor ${value.tensor}` : 'bindings',
            'has a number that attention needs when it is recorded: bind a number or a host tensor',
          );
        },
        scratch: bytes => scratch.atLeast(bytes),
      };
    },
  };
}
