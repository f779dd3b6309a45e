import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import {
  add,
  type CompiledFunction,
  compile,
  divide,
  maximum,
  multiply,
  reduceSum,
  type Specs,
  sqrt,
  square,
  type Variable,
} from '@tilewise/graph/ops';
import { type AdamWOptions, adamw } from './adamw.ts';

/** How parameters are moved. */
export interface OptimizerOptions extends AdamWOptions {
  readonly weightDecay: number;
  /** The norm of all gradients as one vector is brought to at most this; null: as it is. */
  readonly maxNorm: number | null;
}

/** What moves the parameters of a run, with what it remembers of each. */
export interface Optimizer<T> {
  /** The parameters now, by name. */
  readonly values: ReadonlyMap<string, T>;
  /** The moments, by `first.NAME` and `second.NAME`. */
  moments(): ReadonlyMap<string, T>;
  /** Moves the parameters by their gradients. `step` counts from 1. */
  step(
    gradients: ReadonlyMap<string, T>,
    numbers: { readonly step: number; readonly learningRate: number },
  ): Promise<void>;
  release(): void;
}

type Role = 'value' | 'first' | 'second';
const roles: readonly Role[] = ['value', 'first', 'second'];

/** As PyTorch's `clip_grad_norm_` adds to the norm. */
const CLIP_EPSILON = 1e-6;

/**
 * AdamW for parameters on an engine. All of a step is one graph: the norm of the gradients, and each
 * parameter with its moments.
 * @param initial the parameters, f32; the optimizer owns them from now on.
 * @param moments those to go on from; 0 unless given.
 */
export function createOptimizer<T extends TensorDesc>(
  engine: TensorEngine<T>,
  initial: ReadonlyMap<string, T>,
  options: OptimizerOptions,
  moments: ReadonlyMap<string, Tensor> = new Map(),
): Optimizer<T> {
  const names = [...initial.keys()];
  const key = (role: Role | 'gradient', name: string): string => `${role}.${name}`;
  const specs: Record<string, readonly number[]> = { rate: [], secondScale: [], decay: [] };
  let current = new Map<string, T>();
  let next: T[] = [];
  for (const [name, value] of initial) {
    const { shape } = value;
    specs[key('gradient', name)] = shape;
    for (const role of roles) {
      specs[key(role, name)] = shape;
      next.push(engine.primitives.allocate({ dtype: 'f32', shape }));
      const kept = role === 'value' ? undefined : moments.get(key(role, name));
      // A copy, as the host's own engines take tensors as they are.
      current.set(
        key(role, name),
        role === 'value' ? value : engine.upload((kept ?? Tensor.zeros(shape)).cast('f32')),
      );
    }
  }
  const update: CompiledFunction<Specs, readonly (readonly Variable[])[], T> = compile(
    engine,
    inputs => {
      const of = (role: Role | 'gradient', name: string): Variable => inputs[key(role, name)] as Variable;
      const factor = clipFactor(
        names.map(name => of('gradient', name)),
        options.maxNorm,
      );
      return names.map(name => {
        const before = { value: of('value', name), first: of('first', name), second: of('second', name) };
        const gradient = of('gradient', name);
        const clipped = factor ? multiply(gradient, factor) : gradient;
        const { rate, secondScale, decay } = inputs as Record<string, Variable>;
        const after = adamw(before, clipped, { rate, secondScale }, decay, options);
        return roles.map(role => after[role]);
      });
    },
    specs,
  );

  return {
    get values() {
      return new Map(names.map(name => [name, current.get(key('value', name)) as T]));
    },
    moments: () => new Map([...current].filter(([name]) => !name.startsWith('value.'))),
    async step(gradients, { step, learningRate }) {
      const [beta1, beta2] = options.betas;
      await update(
        {
          ...Object.fromEntries(current),
          ...Object.fromEntries(names.map(name => [key('gradient', name), gradients.get(name) as T])),
          rate: learningRate / (1 - beta1 ** step),
          secondScale: 1 / Math.sqrt(1 - beta2 ** step),
          decay: 1 - learningRate * options.weightDecay,
        },
        next,
      );
      const written = names.flatMap(name => roles.map(role => key(role, name)));
      const before = written.map(name => current.get(name) as T);
      current = new Map(written.map((name, n) => [name, next[n]]));
      next = before;
    },
    release() {
      update.release();
      for (const tensor of [...next, ...this.moments().values()]) engine.release(tensor);
    },
  };
}

/** maxNorm / (norm + 1e-6), at most 1. */
function clipFactor(gradients: readonly Variable[], maxNorm: number | null): Variable | null {
  if (maxNorm === null) return null;
  const squares = gradients.map(gradient =>
    reduceSum(square(gradient), { axes: gradient.shape.map((_, d) => d) }),
  );
  const norm = sqrt(squares.reduce((sum, x) => add(sum, x)));
  return divide(maxNorm, maximum(add(norm, CLIP_EPSILON), maxNorm));
}
