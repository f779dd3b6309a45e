import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { type CompiledFunction, compile, type Specs } from '@tilewise/graph/ops';
import { batchTensors, labelCount, targetTensors } from '../model/batch.ts';
import { describeAll, type Model } from '../model/model.ts';
import { bytesOf } from './bytes.ts';
import {
  dropoutNumbers,
  dropoutPlaces,
  type LossOptions,
  type LossResult,
  type LossWanted,
  lossAndGradients,
} from './loss.ts';
import type { LabelledBatch } from './trainer-options.ts';

/** The outcome of a pass over a batch, or over several. */
export interface Pass<T> {
  readonly loss: number;
  /** The squared norm of the gradients, which are multiplied by the scale of the loss. */
  readonly squaredNorm: number;
  readonly accuracy: number | undefined;
  readonly gradients: ReadonlyMap<string, T>;
}

/** How a pass is made. */
export interface PassNumbers {
  /** Passes of the run before: each draws another dropout. */
  readonly pass: number;
  readonly lossScale: number | null;
}

/** Passes over the batches of a model. Each shape of batch is compiled once. */
export interface GradientPasses<T> {
  /** The loss alone, without dropout. */
  evaluate(batches: readonly LabelledBatch[]): Promise<Omit<Pass<T>, 'gradients'>>;
  /** The gradients of one batch, which the caller releases. */
  gradients(batch: LabelledBatch, numbers: PassNumbers): Promise<Pass<T>>;
  /** The sum of the gradients of several batches, in memory that the next call writes again. */
  sum(batches: readonly LabelledBatch[], numbers: PassNumbers): Promise<Pass<T>>;
  /** Bytes of gradients and of what a pass holds. */
  readonly bytes: number;
  release(): void;
}

interface PassOptions<T> extends Partial<PassNumbers> {
  /** Labels of all batches that the loss is the mean over. */
  readonly counted: number;
  readonly wanted: Pick<LossWanted, 'by' | 'sum'>;
  readonly totals?: ReadonlyMap<string, T> | undefined;
  readonly outputs?: ReadonlyMap<string, T> | undefined;
}

/** Readies passes over a model whose gradients are by `trained`. */
export function gradientPasses<T extends TensorDesc>(
  model: Model<T>,
  trained: ReadonlyMap<string, TensorDesc>,
  options: LossOptions & { readonly seed: number | bigint },
): GradientPasses<T> {
  const { engine, definition } = model;
  const { seed, labelSmoothing, recomputation, accuracy } = options;
  const by = [...trained.keys()];
  const places = dropoutPlaces(model);
  const compiled = new Map<string, CompiledFunction<Specs, LossResult, T>>();
  /** Memory for gradients, which all steps share. */
  const held = new Map<string, ReadonlyMap<string, T>>();

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
  ): Promise<Pass<T>> {
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
    const memory = outputs ? wanted.by.map(name => outputs.get(name)) : [];
    const inputs = { ...tensors, ...model.bindings(), ...sums, ...scalars };
    const results = await loss(inputs, [undefined, ...memory]);
    const summary = (await engine.download(results.summary as T)).toFloat32();
    engine.release(results.summary as T);
    const gradients = new Map(Object.entries(results.gradients as Record<string, T>));
    return { loss: summary[0], squaredNorm: summary[1], accuracy: summary[2], gradients };
  }

  /** `stored`: in the dtypes of the parameters; `even` and `odd`: in f32, to be written in turn. */
  function gradientMemory(turn: 'stored' | 'even' | 'odd'): ReadonlyMap<string, T> {
    const known = held.get(turn);
    if (known) return known;
    const made = [...trained].map(([name, { shape, dtype }]) => {
      const desc = { dtype: turn === 'stored' ? dtype : 'f32', shape } as const;
      return [name, engine.primitives.allocate(desc)] as const;
    });
    held.set(turn, new Map(made));
    return new Map(made);
  }

  return {
    async evaluate(batches) {
      const counted = countOf(batches);
      const passes: Pass<T>[] = [];
      for (const batch of batches) passes.push(await run(batch, { counted, wanted: { by: [] } }));
      return passes.reduce(together);
    },
    gradients: (batch, numbers) => run(batch, { ...numbers, counted: countOf([batch]), wanted: { by } }),
    async sum(batches, { pass, lossScale }) {
      const [first, ...more] = batches;
      if (!first) throw new InvalidArgumentError('batch', 'must be one or more');
      const numbers = { counted: countOf(batches), lossScale };
      const sum = more.length === 0 ? undefined : 'first';
      let total = await run(first, {
        ...{ ...numbers, pass, wanted: { by, sum } },
        outputs: gradientMemory(sum ? 'even' : 'stored'),
      });
      for (const [n, batch] of more.entries()) {
        const next = await run(batch, {
          ...{ ...numbers, pass: pass + n + 1, wanted: { by, sum: 'next' }, totals: total.gradients },
          outputs: gradientMemory(n % 2 === 0 ? 'odd' : 'even'),
        });
        total = together(total, next);
      }
      return total;
    },
    get bytes() {
      const work = [...compiled.values()].map(({ workspaceBytes }) => workspaceBytes);
      const memory = [...held.values()].map(tensors => bytesOf(tensors.values()));
      return Math.max(0, ...work) + memory.reduce((sum, bytes) => sum + bytes, 0);
    },
    release() {
      for (const loss of compiled.values()) loss.release();
      for (const tensors of held.values()) for (const tensor of tensors.values()) engine.release(tensor);
    },
  };
}

/** Two passes whose losses are parts of one mean; the gradients are those of the second. */
function together<T>(a: Pass<T>, b: Pass<T>): Pass<T> {
  const accuracy = a.accuracy === undefined || b.accuracy === undefined ? undefined : a.accuracy + b.accuracy;
  return { ...b, loss: a.loss + b.loss, accuracy };
}

const scalarSpec = (x: number | bigint): Specs[string] =>
  typeof x === 'bigint' ? { shape: [], dtype: 'i64' } : [];
