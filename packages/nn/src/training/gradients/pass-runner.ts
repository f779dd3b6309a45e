import type { Tensor, TensorDesc } from '@tilewise/core';
import { type CompiledFunction, compile, type Results, type Specs } from '@tilewise/graph/ops';
import { getOrInsertComputed } from '../../model/get-or-insert.ts';
import { describeAll, type Model } from '../../model/model.ts';
import { nextTurn } from '../../model/next-turn.ts';
import {
  dropoutNumbers,
  dropoutPlaces,
  type LossOptions,
  type LossResult,
  type LossWanted,
  lossAndGradients,
} from '../loss.ts';
import { lostParameter } from '../parameters.ts';
import type { GradientMemory } from './gradient-memory.ts';

/** The numbers of a step that its passes depend on. */
export interface PassNumbers {
  /** The number of earlier steps in the run; each pass of each step draws a new dropout. */
  readonly step: number;
  readonly lossScale: number | null;
}

/** The inputs and outputs of a pass. Without a step, nothing is dropped. */
export interface PassOptions<T extends TensorDesc> extends Partial<PassNumbers> {
  /** The number of earlier passes in the step. */
  readonly part?: number | undefined;
  readonly wanted: Pick<LossWanted, 'by' | 'sum'>;
  /** The sums of the gradients of earlier passes, by the names of the parameters. */
  readonly totals?: ReadonlyMap<string, T> | undefined;
  /** Memory for the results; without it, the caller releases them. */
  readonly outputs?: GradientMemory<T> | undefined;
}

/** Runs passes over batches. Each shape of batch is compiled once. */
export interface PassRunner<T extends TensorDesc> {
  /** Runs a pass over the tensors of a batch. */
  run(tensors: Readonly<Record<string, Tensor>>, options: PassOptions<T>): Promise<Results<LossResult, T>>;
  /** The memory for the intermediates of a pass, in bytes. */
  readonly workspaceBytes: number;
  release(): void;
}

/** Prepares passes over a model, whose dropout is drawn from a seed. */
export function passRunner<T extends TensorDesc>(
  model: Model<T>,
  seed: number | bigint,
  lossOptions: LossOptions,
): PassRunner<T> {
  /** The number of dropouts, once a step has been run. */
  let places: number | undefined;
  const compiled = new Map<string, CompiledFunction<Specs, LossResult, T>>();

  /** The compiled pass over batches with the shapes of these tensors. */
  function compiledFor(
    tensors: Readonly<Record<string, Tensor>>,
    scalars: Readonly<Record<string, number | bigint>>,
    { wanted, totals }: Pick<PassOptions<T>, 'wanted' | 'totals'>,
  ): CompiledFunction<Specs, LossResult, T> {
    const batch = describeAll(tensors);
    const names = [Object.keys(scalars), wanted.by.length, wanted.sum];
    // Training changes no shape or dtype of a weight.
    const key = JSON.stringify([batch, names, model.adapter?.config]);
    return getOrInsertComputed(compiled, key, () => {
      const specs: Specs = {
        ...{ ...batch, ...model.specs(), ...describeAll(namedTotals(totals)) },
        ...Object.fromEntries(Object.entries(scalars).map(([name, x]) => [name, scalarSpec(x)])),
      };
      return compile(
        model.engine,
        inputs => lossAndGradients(model, inputs, { ...lossOptions, ...wanted }),
        specs,
      );
    });
  }

  return {
    async run(tensors, options) {
      await nextTurn();
      const { step, part, lossScale, totals, outputs } = options;
      if (step !== undefined) places ??= dropoutPlaces(model, describeAll(tensors));
      const scalars = {
        ...(step !== undefined && dropoutNumbers(places ?? 0, seed, step, part)),
        ...(typeof lossScale === 'number' && { lossScale }),
      };
      const inputs = model.bindings<T | Tensor | number>(tensors, namedTotals(totals), scalars);
      // Since the step was called, the adapter may have been merged.
      const lost = options.wanted.by.find(name => inputs[name] === undefined);
      if (lost !== undefined) throw lostParameter(lost);
      const loss = compiledFor(tensors, scalars, options);
      const results = outputs && [outputs.summary, ...outputs.views.values()];
      return loss(inputs, results) as Promise<Results<LossResult, T>>;
    },
    get workspaceBytes() {
      return Math.max(0, ...[...compiled.values()].map(pass => pass.workspaceBytes));
    },
    release() {
      for (const pass of compiled.values()) pass.release();
    },
  };
}

/** Sums of gradients by the names of a pass's arguments. */
function namedTotals<T>(totals: ReadonlyMap<string, T> = new Map()): Readonly<Record<string, T>> {
  return Object.fromEntries([...totals].map(([name, total]) => [`total.${name}`, total]));
}

const scalarSpec = (x: number | bigint): Specs[string] =>
  typeof x === 'bigint' ? { shape: [], dtype: 'i64' } : [];
