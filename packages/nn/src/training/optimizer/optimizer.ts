import { Tensor, type TensorDesc, TilewiseError } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import {
  type CompiledFunction,
  compile,
  multiply,
  reshape,
  type Specs,
  slice,
  typeCast,
  type Variable,
} from '@tilewise/graph/ops';
import { inFloat32 } from '../../architectures/transformer/scope.ts';
import { bytesOf } from '../../model/bytes.ts';
import { getOrInsertComputed } from '../../model/get-or-insert.ts';
import { describeAll } from '../../model/model.ts';
import { type Bucket, type FlatTensor, flatTensor } from './buckets.ts';
import type { UpdateRule } from './update-rule.ts';

/** Updates the parameters of a run, and holds the state of each. */
export interface Optimizer<T> {
  /** The current parameters by name, in the dtypes of the model. */
  readonly values: ReadonlyMap<string, T>;
  /** The parameters in f32 by name, and the optimizer's state of each by `STATE.NAME`. */
  state(): Promise<ReadonlyMap<string, T>>;
  /** Updates the parameters with their gradients, given as a flat tensor for each bucket. */
  step(gradients: readonly T[], numbers: StepNumbers): Promise<void>;
  /** The memory in bytes, besides that of the model's parameters. */
  readonly bytes: number;
  /** The tensors of which `values` are views; none before the first step. */
  readonly memory: readonly T[];
  /** Frees all memory except that of `values`. */
  release(): void;
}

/** The numbers of a step. */
export interface StepNumbers {
  /** The number of this update, from 1. */
  readonly step: number;
  readonly learningRate: number;
  /** The factor of all gradients. */
  readonly gradientScale: number;
}

/** The initial values of an optimizer. */
export interface OptimizerStart<T> {
  /** In the dtypes of the model. */
  readonly values: ReadonlyMap<string, T>;
  /** Frees tensors of `values` that copies replace. */
  readonly release: (tensors: Iterable<T>) => void;
  /** The parameters by dtype and settings. */
  readonly buckets: readonly Bucket[];
  /** A state from `state`, to continue from; by default the values and zeros. */
  readonly from?: ReadonlyMap<string, Tensor> | undefined;
}

/** The memory of a bucket. */
interface BucketMemory<T> {
  readonly bucket: Bucket;
  /** The parameters and their state in f32, by role. A step updates them in place. */
  readonly roles: ReadonlyMap<string, FlatTensor<T>>;
  /** The parameters as the model stores them, if in 16 bits. */
  readonly rounded: FlatTensor<T> | null;
}

/** The role of the parameters; the other roles are the state of the update rule. */
const VALUE = 'value';

/**
 * Prepares an optimizer that updates parameters on an engine. A step is one graph, which updates the
 * parameters of a bucket as one tensor. A parameter that is stored in 16 bits is updated in f32, and rounded
 * after each step (Micikevicius et al. 2018, Mixed Precision Training).
 */
export function createOptimizer<T extends TensorDesc>(
  engine: TensorEngine<T>,
  rule: UpdateRule,
  { values: given, release, buckets, from = new Map() }: OptimizerStart<T>,
): Optimizer<T> {
  const roles = [VALUE, ...rule.state];
  const keyOf = (role: string, name: string): string => (role === VALUE ? name : `${role}.${name}`);
  /** Null before the first step, so that a run that only evaluates does not allocate buckets. */
  let memory: readonly BucketMemory<T>[] | null = null;
  let values = given;
  /** The graph of a step by its arguments: gradients are in f32 if those of several batches were added. */
  const updates = new Map<string, CompiledFunction<Specs, unknown, T>>();
  /** Why the parameters may be inconsistent: a step failed halfway. */
  let interrupted: TilewiseError | undefined;

  function allocate(bucket: Bucket): BucketMemory<T> {
    const all = new Map(roles.map(role => [role, flatTensor(engine, bucket, 'f32')]));
    const rounded = bucket.dtype === 'f32' ? null : flatTensor(engine, bucket, bucket.dtype);
    return { bucket, roles: all, rounded };
  }

  /** Copies the parameters to flat tensors, when a step or the state is first requested. */
  async function begin(): Promise<readonly BucketMemory<T>[]> {
    if (memory) return memory;
    const made = buckets.map(allocate);
    const copies: (readonly [T | Tensor, T])[] = [];
    for (const { roles: own, rounded } of made) {
      for (const [role, { views }] of own) {
        for (const [name, to] of views) {
          const source = from.get(keyOf(role, name)) ?? (role === VALUE ? given.get(name) : undefined);
          if (source) copies.push([source, to]);
        }
      }
      for (const [name, to] of rounded?.views ?? []) copies.push([given.get(name) as T, to]);
    }
    await copyAll(engine, copies);
    release(given.values());
    memory = made;
    values = new Map(made.flatMap(each => [...stored(each).views]));
    return made;
  }

  /**
   * A step of all buckets: returns their roles after it, and the parameters as they are stored.
   * @param numbers the names of the numbers of a step, which are stored in one tensor.
   */
  function traceUpdate(
    inputs: Readonly<Record<string, Variable>>,
    numbers: readonly string[],
  ): readonly (readonly Variable[])[] {
    const number = (name: string): Variable => {
      const start = numbers.indexOf(name);
      return reshape(slice(inputs.numbers, { axis: 0, start, size: 1 }), []);
    };
    return buckets.map(({ dtype }, n) => {
      const before = Object.fromEntries(roles.map(role => [role, inputs[`before.${n}.${role}`]]));
      const prefix = `number.${n}.`;
      const own = numbers.filter(name => name.startsWith(prefix));
      const gradient = multiply(inFloat32(inputs[`gradient.${n}`]), number('gradientScale'));
      const named = Object.fromEntries(own.map(name => [name.slice(prefix.length), number(name)]));
      const after = rule.update(before, gradient, named);
      const written = roles.map(role => after[role]);
      return dtype === 'f32' ? written : [...written, typeCast(after[VALUE], { dtype })];
    });
  }

  /** All tensors except those of the model. */
  const ownTensors = (): T[] =>
    (memory ?? []).flatMap(each =>
      [...each.roles.values()].map(({ flat }) => flat).filter(flat => flat !== modelTensor(each)),
    );

  return {
    get values() {
      return values;
    },
    async state() {
      if (interrupted) throw interrupted;
      const all = (await begin()).flatMap(({ roles: own }) => [...own]);
      return new Map(
        all.flatMap(([role, { views }]) =>
          [...views].map(([name, view]) => [keyOf(role, name), view] as const),
        ),
      );
    },
    async step(gradients, { step, learningRate, gradientScale }) {
      if (interrupted) throw interrupted;
      const parameters = await begin();
      const numbers: Record<string, number> = { gradientScale };
      const bound: Record<string, T | Tensor> = {};
      parameters.forEach(({ bucket, roles: own }, n) => {
        const { rate, weightDecay } = bucket.settings;
        for (const [name, x] of Object.entries(rule.numbers(step, learningRate * rate, weightDecay)))
          numbers[`number.${n}.${name}`] = x;
        bound[`gradient.${n}`] = gradients[n];
        for (const [role, { flat }] of own) bound[`before.${n}.${role}`] = flat;
      });
      const names = Object.keys(numbers);
      bound.numbers = Tensor.from(Object.values(numbers), [names.length]);
      const specs = describeAll(bound);
      const key = JSON.stringify(specs);
      const update = getOrInsertComputed(updates, key, () =>
        compile(engine, inputs => traceUpdate(inputs, names), specs),
      );
      // The results overwrite the parameters and their state.
      const outputs = parameters.flatMap(({ roles: own, rounded }) =>
        [...own.values(), ...(rounded ? [rounded] : [])].map(({ flat }) => flat),
      );
      try {
        await update(bound, outputs);
      } catch (cause) {
        interrupted = new TilewiseError(
          cause instanceof TilewiseError ? cause.code : 'INVALID_ARGUMENT',
          'a failed step may have updated only some parameters: continue from a checkpoint',
          { cause },
        );
        throw interrupted;
      }
    },
    get bytes() {
      const work = [...updates.values()].map(({ workspaceBytes }) => workspaceBytes);
      return Math.max(0, ...work) + bytesOf(ownTensors());
    },
    get memory() {
      return memory?.map(modelTensor) ?? [];
    },
    release() {
      for (const update of updates.values()) update.release();
      for (const tensor of ownTensors()) engine.release(tensor);
    },
  };
}

/** The parameters as the model stores them. */
const stored = <T>({ roles, rounded }: BucketMemory<T>): FlatTensor<T> =>
  rounded ?? (roles.get(VALUE) as FlatTensor<T>);

/** The flat tensor of which the parameters of a model are views. */
const modelTensor = <T>(bucket: BucketMemory<T>): T => stored(bucket).flat;

/** Copies tensors of the host or of an engine to tensors of the engine, which may have another dtype. */
async function copyAll<T extends TensorDesc>(
  engine: TensorEngine<T>,
  copies: readonly (readonly [from: T | Tensor, to: T])[],
): Promise<void> {
  /** A function for each source: layers repeat, so a model has few different ones. */
  const casts = new Map<string, CompiledFunction<Specs, unknown, T>>();
  try {
    for (const [from, to] of copies) {
      const specs = describeAll({ from });
      const key = JSON.stringify([specs, to.dtype]);
      const cast = getOrInsertComputed(casts, key, () =>
        compile(engine, ({ from: x }) => (x.dtype === to.dtype ? x : inFloat32(x)), specs),
      );
      await cast({ from }, [to]);
    }
  } finally {
    for (const cast of casts.values()) cast.release();
  }
}
