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
import { releaseAll } from '../../model/upload.ts';
import {
  allocateBuckets,
  type BucketMemory,
  type InitialState,
  ROUNDED,
  stateName,
  storedParameters,
  VALUE,
} from './bucket-memory.ts';
import type { Bucket } from './buckets.ts';
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

/** The parameters of an optimizer, and its initial state. */
export interface OptimizerStart<T> extends InitialState<T> {
  /** Frees tensors of `values` that copies replace. */
  readonly release: (tensors: Iterable<T>) => void;
  /** The parameters by dtype and settings. */
  readonly buckets: readonly Bucket[];
}

/**
 * Prepares an optimizer that updates parameters on an engine. A step is one graph, which updates the
 * parameters of a bucket as one tensor. A parameter that is stored in 16 bits is updated in f32, and rounded
 * after each step (Micikevicius et al. 2018, Mixed Precision Training).
 */
export function createOptimizer<T extends TensorDesc>(
  engine: TensorEngine<T>,
  rule: UpdateRule,
  start: OptimizerStart<T>,
): Optimizer<T> {
  /** Null before the first step, so that a run that only evaluates does not allocate buckets. */
  let memory: readonly BucketMemory<T>[] | null = null;
  const { buckets, release } = start;
  let { values, from } = start;
  /** The graph of a step by its arguments: gradients are in f32 if those of several batches were added. */
  const updates = new Map<string, CompiledFunction<Specs, unknown, T>>();
  /** Why the parameters may be inconsistent: a step failed halfway. */
  let interrupted: TilewiseError | undefined;

  /** Copies the parameters to flat tensors, when a step or the state is first requested. */
  async function begin(): Promise<readonly BucketMemory<T>[]> {
    if (interrupted) throw interrupted;
    if (memory) return memory;
    memory = await allocateBuckets(engine, buckets, rule.state, { values, from });
    release(values.values());
    // The saved state is on the engine now, so the host need not hold it.
    from = undefined;
    values = new Map(memory.flatMap(bucket => [...storedParameters(bucket).views]));
    return memory;
  }

  /** All tensors except those of the model. */
  const ownTensors = (): T[] =>
    (memory ?? []).flatMap(bucket =>
      [...bucket.roles.values()]
        .map(({ flat }) => flat)
        .filter(flat => flat !== storedParameters(bucket).flat),
    );

  return {
    get values() {
      return values;
    },
    async state() {
      const all = (await begin()).flatMap(({ roles }) => [...roles]).filter(([role]) => role !== ROUNDED);
      return new Map(
        all.flatMap(([role, { views }]) =>
          [...views].map(([name, view]) => [stateName(role, name), view] as const),
        ),
      );
    },
    async step(gradients, numbers) {
      const own = await begin();
      const bound = stepArguments(rule, own, gradients, numbers);
      const specs = describeAll(bound);
      const update = getOrInsertComputed(updates, JSON.stringify(specs), () =>
        compile(engine, inputs => traceUpdate(rule, buckets, inputs), specs),
      );
      try {
        // The results overwrite the parameters and their state.
        await update(
          bound,
          own.flatMap(({ roles }) => [...roles.values()].map(({ flat }) => flat)),
        );
      } catch (cause) {
        interrupted = new TilewiseError(
          cause instanceof TilewiseError ? cause.code : 'INVALID_ARGUMENT',
          'a failed step may have updated some parameters: continue from a checkpoint',
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
      return memory?.map(bucket => storedParameters(bucket).flat) ?? [];
    },
    release() {
      for (const update of updates.values()) update.release();
      releaseAll(engine, ownTensors());
    },
  };
}

/**
 * The arguments of the graph of a step, by name. For bucket n: its gradients, `gradient.n`, and its tensors
 * before the step, `before.n.ROLE`. In one tensor, `numbers`: the scale of the gradients, and then the
 * numbers of the update rule for each bucket.
 */
function stepArguments<T extends TensorDesc>(
  rule: UpdateRule,
  buckets: readonly BucketMemory<T>[],
  gradients: readonly T[],
  { step, learningRate, gradientScale }: StepNumbers,
): Readonly<Record<string, T | Tensor>> {
  const numbers = [gradientScale];
  const bound: Record<string, T | Tensor> = {};
  for (const [n, { bucket, roles }] of buckets.entries()) {
    const { rate, weightDecay } = bucket.settings;
    numbers.push(...Object.values(rule.numbers(step, learningRate * rate, weightDecay)));
    bound[`gradient.${n}`] = gradients[n];
    for (const [role, { flat }] of roles) if (role !== ROUNDED) bound[`before.${n}.${role}`] = flat;
  }
  bound.numbers = Tensor.from(numbers, [numbers.length]);
  return bound;
}

/**
 * A step of all buckets: returns the tensors of each after the step, in the order of its roles.
 * @param inputs the arguments that `stepArguments` describes.
 */
function traceUpdate(
  rule: UpdateRule,
  buckets: readonly Bucket[],
  inputs: Readonly<Record<string, Variable>>,
): readonly (readonly Variable[])[] {
  let start = 0;
  const nextNumber = (): Variable => reshape(slice(inputs.numbers, { axis: 0, start: start++, size: 1 }), []);
  const gradientScale = nextNumber();
  const roles = [VALUE, ...rule.state];
  return buckets.map(({ dtype }, n) => {
    const before = Object.fromEntries(roles.map(role => [role, inputs[`before.${n}.${role}`]]));
    const names = Object.keys(rule.numbers(1, 0, 0));
    const numbers = Object.fromEntries(names.map(name => [name, nextNumber()]));
    const after = rule.update(before, multiply(inFloat32(inputs[`gradient.${n}`]), gradientScale), numbers);
    const written = roles.map(role => after[role]);
    return dtype === 'f32' ? written : [...written, typeCast(after[VALUE], { dtype })];
  });
}
