import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { type CompiledFunction, compile, type Specs, type Variable } from '@tilewise/graph/ops';
import { batchTensors, labelCount, targetTensors } from '../model/batch.ts';
import { bytesOf } from '../model/bytes.ts';
import { describeAll, type Model } from '../model/model.ts';
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
import type { LabelledBatch } from './trainer-options.ts';

/** The result of a pass over a batch, or over several. */
export interface Pass<T> {
  readonly loss: number;
  readonly accuracy: number | undefined;
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
  /** The number of earlier passes in the run; each pass draws a new dropout. */
  readonly pass: number;
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

interface PassOptions<T> extends Partial<PassNumbers> {
  /** The number of labels in all batches over which the loss is the mean. */
  readonly counted: number;
  readonly wanted: Pick<LossWanted, 'by' | 'sum'>;
  readonly totals?: ReadonlyMap<string, T> | undefined;
  readonly outputs?: Memory<T> | undefined;
}

/** Memory for gradients: flat tensors, and a view for each gradient. */
interface Memory<T> {
  readonly flat: readonly T[];
  readonly views: ReadonlyMap<string, T>;
}

/** Prepares passes over a model, with gradients with respect to the parameters in the buckets. */
export function gradientPasses<T extends TensorDesc>(
  model: Model<T>,
  buckets: readonly Bucket[],
  options: LossOptions & { readonly seed: number | bigint },
): GradientPasses<T> {
  const { engine, definition } = model;
  const { seed, labelSmoothing, recomputation, accuracy } = options;
  const by = buckets.flatMap(({ places }) => [...places.keys()]);
  const places = dropoutPlaces(model);
  const compiled = new Map<string, CompiledFunction<Specs, LossResult, T>>();
  /** Functions that add the squared norm of flat tensors to a summary. */
  const norms = new Map<string, CompiledFunction<Specs, Variable, T>>();
  /** The results of these functions, which the next step overwrites. */
  const normed = new Map<string, T>();
  /** Memory for gradients, which all steps share. */
  const held = new Map<string, Memory<T>>();

  const countOf = (batches: readonly LabelledBatch[]): number =>
    batches.reduce((sum, { labels }) => sum + labelCount(definition, labels), 0);

  function compiledFor(specs: Specs, wanted: LossWanted): CompiledFunction<Specs, LossResult, T> {
    const key = JSON.stringify([specs, wanted, model.adapter?.config]);
    const made =
      compiled.get(key) ?? compile(engine, inputs => lossAndGradients(model, inputs, wanted), specs);
    compiled.set(key, made);
    return made;
  }

  async function run(
    batch: LabelledBatch,
    { counted, wanted, pass, lossScale, totals = new Map(), outputs }: PassOptions<T>,
  ): Promise<{ readonly summary: T; readonly gradients: Pass<T>['gradients'] }> {
    const tensors = {
      ...batchTensors(batch.inputs),
      ...targetTensors(definition, batch.labels, counted),
    };
    const scalars = {
      ...(pass !== undefined && dropoutNumbers(places, seed, pass)),
      ...(typeof lossScale === 'number' && { lossScale }),
    };
    const sums = Object.fromEntries([...totals].map(([name, total]) => [`total.${name}`, total]));
    const specs: Specs = {
      ...{ ...describeAll(tensors), ...model.specs(), ...describeAll(sums) },
      ...Object.fromEntries(Object.entries(scalars).map(([name, x]) => [name, scalarSpec(x)])),
    };
    const loss = compiledFor(specs, { ...wanted, labelSmoothing, recomputation, accuracy });
    const memory = outputs ? wanted.by.map(name => outputs.views.get(name)) : [];
    const inputs = { ...tensors, ...model.bindings(), ...sums, ...scalars };
    const { summary, gradients } = await loss(inputs, [undefined, ...memory]);
    return { summary: summary as T, gradients: new Map(Object.entries(gradients as Record<string, T>)) };
  }

  const download = async (summary: T): Promise<Float32Array> => (await engine.download(summary)).toFloat32();

  /** The numbers of a summary; releases the summary. */
  async function numbersOf(summary: T): Promise<Float32Array> {
    const numbers = await download(summary);
    engine.release(summary);
    return numbers;
  }

  /** The numbers of a whole batch, from the summaries of its parts. */
  function together(summaries: readonly Float32Array[]): Omit<Pass<T>, 'gradients'> {
    const sum = (place: number): number => summaries.reduce((total, numbers) => total + numbers[place], 0);
    return { loss: sum(0), accuracy: accuracy ? sum(1) : undefined };
  }

  /** The numbers of a summary, followed by the squared norm of gradients; releases the summary. */
  async function numbersAndNorm(summary: T, flat: readonly T[]): Promise<Float32Array> {
    const tensors = { summary, ...Object.fromEntries(flat.map((tensor, n) => [`flat.${n}`, tensor])) };
    const specs = describeAll(tensors);
    const key = JSON.stringify(specs);
    const norm =
      norms.get(key) ??
      compile(engine, ({ summary: own, ...all }) => withSquaredNorm(own, Object.values(all)), specs);
    norms.set(key, norm);
    const result = await norm(tensors, [normed.get(key)]);
    normed.set(key, result as T);
    engine.release(summary);
    return download(result as T);
  }

  /** `stored`: in the dtypes of the parameters; `even` and `odd`: in f32, written alternately. */
  function gradientMemory(turn: 'stored' | 'even' | 'odd'): Memory<T> {
    const known = held.get(turn);
    if (known) return known;
    const all: FlatTensor<T>[] = buckets.map(bucket =>
      flatTensor(engine, bucket, turn === 'stored' ? bucket.dtype : 'f32'),
    );
    const made = {
      flat: all.map(({ flat }) => flat),
      views: new Map(all.flatMap(({ views }) => [...views])),
    };
    held.set(turn, made);
    return made;
  }

  return {
    async evaluate(batches) {
      const counted = countOf(batches);
      const summaries: Float32Array[] = [];
      for (const batch of batches)
        summaries.push(await numbersOf((await run(batch, { counted, wanted: { by: [] } })).summary));
      return together(summaries);
    },
    async gradients(batch, numbers) {
      const { summary, gradients } = await run(batch, {
        ...numbers,
        counted: countOf([batch]),
        wanted: { by },
      });
      return { ...together([await numbersOf(summary)]), gradients };
    },
    async sum(batches, { pass, lossScale }) {
      const last = batches.length - 1;
      if (last < 0) throw new InvalidArgumentError('batch', 'must be at least one batch');
      const counted = countOf(batches);
      const summaries: Float32Array[] = [];
      let totals: Pass<T>['gradients'] | undefined;
      let flat: readonly T[] = [];
      for (const [n, batch] of batches.entries()) {
        const sum = last === 0 ? undefined : totals ? 'next' : 'first';
        const outputs = gradientMemory(sum ? (n % 2 === 0 ? 'even' : 'odd') : 'stored');
        const numbers = { pass: pass + n, lossScale, counted };
        const { summary, gradients } = await run(batch, { ...numbers, wanted: { by, sum }, totals, outputs });
        summaries.push(await (n === last ? numbersAndNorm(summary, outputs.flat) : numbersOf(summary)));
        ({ flat } = outputs);
        totals = gradients;
      }
      return { ...together(summaries), squaredNorm: summaries[last].at(-1) ?? 0, flat };
    },
    get bytes() {
      const work = [...compiled.values()].map(({ workspaceBytes }) => workspaceBytes);
      const memory = [...held.values()].map(({ flat }) => bytesOf(flat));
      return Math.max(0, ...work) + memory.reduce((sum, bytes) => sum + bytes, 0);
    },
    release() {
      for (const each of [...compiled.values(), ...norms.values()]) each.release();
      for (const tensor of normed.values()) engine.release(tensor);
      for (const { flat } of held.values()) for (const tensor of flat) engine.release(tensor);
    },
  };
}

const scalarSpec = (x: number | bigint): Specs[string] =>
  typeof x === 'bigint' ? { shape: [], dtype: 'i64' } : [];
