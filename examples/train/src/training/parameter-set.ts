import { InvalidArgumentError, InvalidShapeError, sameShape, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { initialParameter, type ParameterSpec } from '../model/parameters.ts';
import type { ParameterState } from '../optimizer/adamw.ts';

/**
 * Host tensors by name: parameters, and under `adamw.first.` and `adamw.second.` what AdamW knows of each.
 */
export type NamedTensors = ReadonlyMap<string, Tensor>;

/** The parameters of a model on an engine, in the order of their specs. */
export interface ParameterSet<T> {
  readonly current: readonly ParameterState<T>[];
  /** Where a step writes; what reads one tensor and writes the same is not possible on every engine. */
  readonly next: readonly ParameterState<T>[];
  /** Makes what a step has written the current. */
  advance(): void;
  /** Copies on the host. */
  download(): Promise<NamedTensors>;
  release(): void;
}

const nameIn: Readonly<Record<keyof ParameterState<unknown>, (name: string) => string>> = {
  value: name => name,
  first: name => `adamw.first.${name}`,
  second: name => `adamw.second.${name}`,
};

/** The parameters that training begins with. */
export function initialTensors(specs: readonly ParameterSpec[], seed: number | bigint): NamedTensors {
  return new Map(specs.map(spec => [spec.name, initialParameter(spec, seed)]));
}

/**
 * Brings parameters to an engine. What AdamW knows begins at 0 where it is not given.
 * @throws InvalidArgumentError for a parameter that is not given; InvalidShapeError for one of another shape.
 */
export function createParameterSet<T extends TensorDesc>(
  engine: TensorEngine<T>,
  specs: readonly ParameterSpec[],
  tensors: NamedTensors,
): ParameterSet<T> {
  for (const { name, shape } of specs) {
    if (!tensors.has(name)) throw new InvalidArgumentError('parameters', `lack '${name}'`);
    for (const of of Object.values(nameIn)) {
      const given = tensors.get(of(name));
      if (given && !sameShape(given.shape, shape)) {
        throw new InvalidShapeError(of(name), `must have shape [${shape}], got [${given.shape}]`);
      }
    }
  }
  const stateOf = (make: (role: keyof ParameterState<T>) => T): ParameterState<T> => ({
    value: make('value'),
    first: make('first'),
    second: make('second'),
  });
  let current = specs.map(({ name, shape }) =>
    stateOf(role => {
      const given = tensors.get(nameIn[role](name));
      // A copy: the host's own engines take tensors as they are, and steps write to them.
      return engine.upload(given ? given.cast('f32') : Tensor.zeros(shape));
    }),
  );
  let next = specs.map(({ shape }) => stateOf(() => engine.primitives.allocate({ dtype: 'f32', shape })));
  return {
    get current() {
      return current;
    },
    get next() {
      return next;
    },
    advance() {
      [current, next] = [next, current];
    },
    async download() {
      const copies = new Map<string, Tensor>();
      for (const [n, { name, shape }] of specs.entries()) {
        for (const role of ['value', 'first', 'second'] as const) {
          const values = (await engine.download(current[n][role])).toFloat32();
          copies.set(nameIn[role](name), Tensor.from(values, shape));
        }
      }
      return copies;
    },
    release() {
      for (const state of [...current, ...next]) for (const t of Object.values(state)) engine.release(t);
    },
  };
}
