import type { Tensor, TensorDesc } from '@tilewise/core';
import {
  type CompiledFunction,
  compile,
  type Results,
  type Specs,
  type Traceable,
  type Variable,
} from '@tilewise/graph/ops';
import { bytesOf } from '../model/bytes.ts';
import { getOrInsertComputed } from '../model/get-or-insert.ts';
import { type LabelledBatch, labelledTensors } from '../model/labels.ts';
import { describeAll, type Model } from '../model/model.ts';
import { nextTurn } from '../model/next-turn.ts';
import {
  dropoutNumbers,
  dropoutPlaces,
  type LossOptions,
  type LossResult,
  type LossWanted,
  lossAndGradients,
  withSquaredNorm,
} from './loss.ts';
import { type Bucket, type FlatTensor, flatTensor } from './optimizer/buckets.ts';

/** The result of a pass over a batch, or over several. */
export interface Pass<T> {
  readonly loss: number;
  /** Present if the options ask for it. */
  readonly accuracy?: number;
  readonly gradients: ReadonlyMap<string, T>;
}

/** The sum of the gradients of several passes. */
export interface GradientSum<T> extends Omit<Pass<T>, 'gradients'> {
  /** The squared norm of the gradients, which include the loss scale. */
  readonly squaredNorm: number;
  /** The gradients of each bucket as a flat tensor. */
  readonly flat: readonly T[];
}

/** The options of passes. */
export interface PassNumbers {
  /** The number of earlier steps in the run; each pass of each step draws a new dropout. */
  readonly step: number;
  readonly lossScale: number | null;
}

/** Passes over the batches of a model. Each shape of batch is compiled once. */
export interface GradientPasses<T> {
  /** Only the loss, without dropout. */
  evaluate(batches: readonly LabelledBatch[]): Promise<Omit<Pass<T>, 'gradients'>>;
  /** The gradients of one batch, which the caller releases. */
  gradients(batch: LabelledBatch, numbers: PassNumbers): Promise<Pass<T>>;
  /** The sum of the gradients of several batches, in memory that the next call overwrites. */
  sum(batches: readonly LabelledBatch[], numbers: PassNumbers): Promise<GradientSum<T>>;
  /** The memory of gradients and of a pass, in bytes. */
  readonly bytes: number;
  release(): void;
}

interface PassOptions<T extends TensorDesc> extends Partial<PassNumbers> {
  /** The number of earlier passes in the step. */
  readonly part?: number | undefined;
  readonly wanted: Pick<LossWanted, 'by' | 'sum'>;
  readonly totals?: ReadonlyMap<string, T> | undefined;
  readonly outputs?: Memory<T> | undefined;
}

/** Memory for the results of a pass, which the next pass overwrites. */
interface Memory<T extends TensorDesc> {
  /** The loss and the accuracy, as in `LossResult`. */
  readonly summary: T;
  /** The gradients as flat tensors, and a view for each gradient, in the order of the parameters. */
  readonly flat: readonly T[];
  readonly views: ReadonlyMap<string, T>;
  /** Adds the squared norm of the gradients to the summary; with the tensor for its result. */
  norm?: readonly [CompiledFunction<Specs, Variable, T>, T];
}

/** Prepares passes over a model, with gradients with respect to the parameters in the buckets. */
export function gradientPasses<T extends TensorDesc>(
  model: Model<T>,
  buckets: readonly Bucket[],
  options: LossOptions & { readonly seed: number | bigint },
): GradientPasses<T> {
  const { engine, definition } = model;
  const { seed, accuracy, ...lossOptions } = options;
  const by = buckets.flatMap(({ places }) => [...places.keys()]);
  const places = dropoutPlaces(model);
  const compiled = new Map<string, CompiledFunction<Specs, LossResult, T>>();
  /** Memory for gradients, which all steps share. */
  const held = new Map<string, Memory<T>>();

  /** The compiled pass over batches with the shapes of these tensors. */
  function compiledFor(
    tensors: Readonly<Record<string, Tensor>>,
    scalars: Readonly<Record<string, number | bigint>>,
    { wanted, totals }: Pick<PassOptions<T>, 'wanted' | 'totals'>,
  ): CompiledFunction<Specs, LossResult, T> {
    const own = describeAll(tensors);
    const names = [Object.keys(scalars), wanted.by.length, wanted.sum];
    // Training changes no shape or dtype of a weight.
    const key = JSON.stringify([own, names, model.adapter?.config]);
    return getOrInsertComputed(compiled, key, () => {
      const specs: Specs = {
        ...{ ...own, ...model.specs(), ...describeAll(namedTotals(totals)) },
        ...Object.fromEntries(Object.entries(scalars).map(([name, x]) => [name, scalarSpec(x)])),
      };
      const fn: Traceable<Specs, LossResult> = inputs =>
        lossAndGradients(model, inputs, { ...lossOptions, accuracy, ...wanted });
      return compile(engine, fn, specs);
    });
  }

  /** Runs a pass over the tensors of a batch. Without `outputs`, the caller releases the results. */
  async function run(
    tensors: Readonly<Record<string, Tensor>>,
    given: PassOptions<T>,
  ): Promise<Results<LossResult, T>> {
    await nextTurn();
    const { step, part, lossScale, totals, outputs } = given;
    const scalars = {
      ...(step !== undefined && dropoutNumbers(places, seed, step, part)),
      ...(typeof lossScale === 'number' && { lossScale }),
    };
    const loss = compiledFor(tensors, scalars, given);
    const inputs = model.bindings<T | Tensor | number>(tensors, namedTotals(totals), scalars);
    const results = outputs && [outputs.summary, ...outputs.views.values()];
    return loss(inputs, results) as Promise<Results<LossResult, T>>;
  }

  const download = async (numbers: T): Promise<Float32Array> => (await engine.download(numbers)).toFloat32();

  /** The numbers of a summary; releases the summary. */
  async function numbersOf(summary: T): Promise<Float32Array> {
    const numbers = await download(summary);
    engine.release(summary);
    return numbers;
  }

  /** The numbers of a whole batch, from the summaries of its parts. */
  function together(summaries: readonly Float32Array[]): Omit<Pass<T>, 'gradients'> {
    const sum = (place: number): number => summaries.reduce((total, numbers) => total + numbers[place], 0);
    return { loss: sum(0), ...(accuracy && { accuracy: sum(1) }) };
  }

  /** The numbers of a summary, followed by the squared norm of the gradients. */
  async function numbersAndNorm(memory: Memory<T>): Promise<Float32Array> {
    const flat = memory.flat.map((tensor, n) => [`flat.${n}`, tensor] as const);
    const tensors = { summary: memory.summary, ...Object.fromEntries(flat) };
    memory.norm ??= compiledNorm(describeAll(tensors));
    const [norm, numbers] = memory.norm;
    await norm(tensors, [numbers]);
    return download(numbers);
  }

  function compiledNorm(specs: Specs): NonNullable<Memory<T>['norm']> {
    const fn: Traceable<Specs, Variable> = ({ summary, ...all }) =>
      withSquaredNorm(summary, Object.values(all));
    const norm = compile(engine, fn, specs);
    return [norm, engine.primitives.allocate(norm.results[0])];
  }

  /** `stored`: in the dtypes of the parameters; `even` and `odd`: in f32, written alternately. */
  const gradientMemory = (turn: 'stored' | 'even' | 'odd'): Memory<T> =>
    getOrInsertComputed(held, turn, () => {
      const all: FlatTensor<T>[] = buckets.map(bucket =>
        flatTensor(engine, bucket, turn === 'stored' ? bucket.dtype : 'f32'),
      );
      return {
        summary: engine.primitives.allocate({ dtype: 'f32', shape: [accuracy ? 2 : 1] }),
        flat: all.map(({ flat }) => flat),
        views: new Map(all.flatMap(({ views }) => [...views])),
      };
    });

  return {
    async evaluate(batches) {
      const summaries: Float32Array[] = [];
      for (const tensors of labelledTensors(definition, batches))
        summaries.push(await numbersOf((await run(tensors, { wanted: { by: [] } })).summary));
      return together(summaries);
    },
    async gradients(batch, numbers) {
      const [tensors] = labelledTensors(definition, [batch]);
      const { summary, gradients } = await run(tensors, { ...numbers, wanted: { by } });
      return {
        ...together([await numbersOf(summary)]),
        gradients: new Map(by.map((name, n) => [name, gradients[n]])),
      };
    },
    async sum(batches, numbers) {
      const last = batches.length - 1;
      const summaries: Float32Array[] = [];
      let totals: Pass<T>['gradients'] | undefined;
      let flat: readonly T[] = [];
      for (const [n, tensors] of labelledTensors(definition, batches).entries()) {
        const sum = last === 0 ? undefined : totals ? 'next' : 'first';
        const outputs = gradientMemory(sum ? (n % 2 ? 'odd' : 'even') : 'stored');
        await run(tensors, { ...numbers, part: n, wanted: { by, sum }, totals, outputs });
        summaries.push(await (n === last ? numbersAndNorm(outputs) : download(outputs.summary)));
        ({ flat, views: totals } = outputs);
      }
      return { ...together(summaries), squaredNorm: summaries[last].at(-1) ?? 0, flat };
    },
    get bytes() {
      const work = [...compiled.values()].map(({ workspaceBytes }) => workspaceBytes);
      return Math.max(0, ...work) + bytesOf([...held.values()].flatMap(({ flat }) => flat));
    },
    release() {
      for (const pass of compiled.values()) pass.release();
      for (const { summary, flat, norm } of held.values()) {
        norm?.[0].release();
        for (const tensor of [summary, ...flat, ...(norm ? [norm[1]] : [])]) engine.release(tensor);
      }
    },
  };
}

/** Sums of gradients by the names of a pass's arguments. */
function namedTotals<T>(totals: ReadonlyMap<string, T> = new Map()): Readonly<Record<string, T>> {
  return Object.fromEntries([...totals].map(([name, total]) => [`total.${name}`, total]));
}

const scalarSpec = (x: number | bigint): Specs[string] =>
  typeof x === 'bigint' ? { shape: [], dtype: 'i64' } : [];
