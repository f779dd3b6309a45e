import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  sameShape,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
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
 * Checks that tensors are the f32 parameters of a model, and the state of AdamW for some of them or all.
 * @throws InvalidArgumentError for a missing parameter or a tensor of no parameter, InvalidShapeError and
 * InvalidDTypeError for a tensor of another shape or dtype.
 */
export function checkTensors(specs: readonly ParameterSpec[], tensors: NamedTensors): void {
  const known = new Set<string>();
  for (const { name, shape } of specs) {
    if (!tensors.has(name)) throw new InvalidArgumentError('parameters', `lacks '${name}'`);
    for (const of of Object.values(nameIn)) {
      known.add(of(name));
      const given = tensors.get(of(name));
      if (given && !sameShape(given.shape, shape)) {
        throw new InvalidShapeError(of(name), `must have shape [${shape}], got [${given.shape}]`);
      }
      if (given && given.dtype !== 'f32') {
        throw new InvalidDTypeError(of(name), `must be f32, got ${given.dtype}`);
      }
    }
  }
  const extra = [...tensors.keys()].find(name => !known.has(name));
  if (extra !== undefined) {
    throw new InvalidArgumentError('parameters', `has '${extra}', which is no parameter of this model`);
  }
}

/**
 * Uploads parameters to an engine. The state of AdamW begins at 0 where it is not given.
 * @throws as `checkTensors`.
 */
export function createParameterSet<T extends TensorDesc>(
  engine: TensorEngine<T>,
  specs: readonly ParameterSpec[],
  tensors: NamedTensors,
): ParameterSet<T> {
  checkTensors(specs, tensors);
  const stateOf = (make: (role: keyof ParameterState<T>) => T): ParameterState<T> => ({
    value: make('value'),
    first: make('first'),
    second: make('second'),
  });
  let current = specs.map(({ name, shape }) =>
    stateOf(role => {
      const given = tensors.get(nameIn[role](name));
      // A copy: the host's own engines take tensors as they are, and steps write to them.
      return engine.upload(given ? Tensor.from(given.toFloat32(), shape) : Tensor.zeros(shape));
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
