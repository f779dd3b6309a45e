import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import {
  type CompiledFunction,
  compile,
  multiply,
  type Specs,
  typeCast,
  type Variable,
} from '@tilewise/graph/ops';
import { inFloat32 } from '../transformer/scope.ts';
import { bytesOf } from './bytes.ts';
import type { UpdateRule } from './update-rule.ts';

/** Updates the parameters of a run, and holds the state of each. */
export interface Optimizer<T> {
  /** The parameters now, by name, in the dtypes of the model. */
  readonly values: ReadonlyMap<string, T>;
  /** The parameters in f32 by name, and what is remembered of each by `STATE.NAME`. */
  state(): Promise<ReadonlyMap<string, T>>;
  /** Moves the parameters by their gradients. */
  step(gradients: ReadonlyMap<string, T>, numbers: StepNumbers): Promise<void>;
  /** Bytes beside those of the model's parameters. */
  readonly bytes: number;
  release(): void;
}

/** The numbers of a step. */
export interface StepNumbers {
  /** From 1. */
  readonly step: number;
  readonly learningRate: number;
  /** The factor of all gradients. */
  readonly gradientScale: number;
}

/** How a parameter differs from others in a step. */
export interface ParameterSettings {
  /** The factor of the learning rate. */
  readonly rate: number;
  readonly weightDecay: number;
}

/** The initial values of an optimizer. */
export interface OptimizerStart<T> {
  /** In the dtypes of the model. The optimizer owns them from now on. */
  readonly values: ReadonlyMap<string, T>;
  settingsOf(name: string): ParameterSettings;
  /** A state that `state` gave, to go on from; the values and zeros unless given. */
  readonly from?: ReadonlyMap<string, Tensor> | undefined;
}

/**
 * Readies parameters on an engine to be moved by a rule. All of a step is one graph. A parameter that is
 * stored in 16 bits is moved in f32, and rounded after each step (Micikevicius et al. 2018, Mixed Precision
 * Training).
 */
export function createOptimizer<T extends TensorDesc>(
  engine: TensorEngine<T>,
  rule: UpdateRule,
  { values, settingsOf, from = new Map() }: OptimizerStart<T>,
): Optimizer<T> {
  const names = [...values.keys()];
  const rounded = new Set(names.filter(name => values.get(name)?.dtype !== 'f32'));
  const keysOf = (name: string): string[] => [name, ...rule.state.map(state => `${state}.${name}`)];
  const groups = new Map(names.map(name => [JSON.stringify(settingsOf(name)), settingsOf(name)]));
  /** Parameters of 16 bits, which a step writes where they lie. */
  const stored = new Map([...values].filter(([name]) => rounded.has(name)));
  /** The parameters in f32 and their state, by key. */
  let current = new Map([...values].filter(([name]) => !rounded.has(name)));
  /** Where a step writes these. */
  let next = new Map<string, T>();
  let update: CompiledFunction<Specs, unknown, T> | undefined;
  /** Whether a tensor by its key is beside those of the model. */
  const isOwn = (key: string): boolean => stored.has(key) || !values.has(key);

  /** Allocates the state when it is first needed: a run that only evaluates has none. */
  async function begin(): Promise<void> {
    if (next.size > 0) return;
    for (const name of names) {
      const { shape } = values.get(name) as T;
      for (const key of keysOf(name)) {
        if (!current.has(key)) current.set(key, await initial(name, key, shape));
        next.set(key, engine.primitives.allocate({ dtype: 'f32', shape }));
      }
    }
  }

  async function initial(name: string, key: string, shape: readonly number[]): Promise<T> {
    const kept = from.get(key);
    // A copy, as the host's own engines take tensors as they are.
    if (kept || key !== name) return engine.upload((kept ?? Tensor.zeros(shape)).cast('f32'));
    const { dtype } = stored.get(name) as T;
    const widen = compile(engine, ({ x }) => inFloat32(x), { x: { shape, dtype } });
    const tensor = (await widen({ x: stored.get(name) as T })) as T;
    widen.release();
    return tensor;
  }

  /**
   * A step of all parameters: what each is in f32 afterwards, its state, and the parameter as it is stored.
   */
  function traceUpdate(inputs: Readonly<Record<string, Variable>>): readonly (readonly Variable[])[] {
    return names.map(name => {
      const group = [...groups.keys()].indexOf(JSON.stringify(settingsOf(name)));
      const numbers = Object.fromEntries(
        Object.entries(inputs).flatMap(([key, x]) =>
          key.startsWith(`number.${group}.`) ? [[key.split('.')[2], x]] : [],
        ),
      );
      const gradient = multiply(inFloat32(inputs[`gradient.${name}`]), inputs.gradientScale);
      const state = rule.state.map(role => [role, inputs[`${role}.${name}`]] as const);
      const after = rule.update({ value: inputs[name], ...Object.fromEntries(state) }, gradient, numbers);
      const written = ['value', ...rule.state].map(role => after[role]);
      const kept = stored.get(name);
      return kept ? [...written, typeCast(after.value, { dtype: kept.dtype })] : written;
    });
  }

  return {
    get values() {
      return new Map(names.map(name => [name, (stored.get(name) ?? current.get(name)) as T]));
    },
    async state() {
      await begin();
      return current;
    },
    async step(gradients, { step, learningRate, gradientScale }) {
      await begin();
      const numbers: Record<string, number> = { gradientScale };
      [...groups.values()].forEach(({ rate, weightDecay }, n) => {
        for (const [name, x] of Object.entries(rule.numbers(step, learningRate * rate, weightDecay)))
          numbers[`number.${n}.${name}`] = x;
      });
      const bound = new Map([
        ...current,
        ...names.map(name => [`gradient.${name}`, gradients.get(name) as T] as const),
      ]);
      const specs = [...bound].map(([name, { shape, dtype }]) => [name, { shape, dtype }] as const);
      const scalars = Object.keys(numbers).map(name => [name, []] as const);
      update ??= compile(engine, traceUpdate, Object.fromEntries([...specs, ...scalars]) as Specs);
      const outputs = names.flatMap(name => [
        ...keysOf(name).map(key => next.get(key)),
        ...(rounded.has(name) ? [stored.get(name)] : []),
      ]);
      await update({ ...Object.fromEntries(bound), ...numbers }, outputs);
      [current, next] = [next, current];
    },
    get bytes() {
      const tensors = [...next.values(), ...[...current].flatMap(([key, t]) => (isOwn(key) ? [t] : []))];
      return bytesOf(tensors) + (update?.workspaceBytes ?? 0);
    },
    release() {
      update?.release();
      for (const tensor of next.values()) engine.release(tensor);
      for (const [key, tensor] of current) if (isOwn(key)) engine.release(tensor);
    },
  };
}
