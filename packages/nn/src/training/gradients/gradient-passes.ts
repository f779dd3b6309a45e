import type { TensorDesc } from '@tilewise/core';
import { bytesOf } from '../../model/bytes.ts';
import { getOrInsertComputed } from '../../model/get-or-insert.ts';
import { type LabelledBatch, labelledTensors } from '../../model/labels.ts';
import type { Model } from '../../model/model.ts';
import type { LossOptions } from '../loss.ts';
import type { Bucket } from '../optimizer/buckets.ts';
import type { Evaluation, LossAndGradients } from '../trainer-options.ts';
import { type GradientMemory, gradientMemory } from './gradient-memory.ts';
import { type PassNumbers, passRunner } from './pass-runner.ts';

/** The loss of several batches, and the sum of their gradients. */
export interface GradientSum<T> extends Evaluation {
  /** The squared norm of the gradients, which include the loss scale. */
  readonly squaredNorm: number;
  /** The gradients of each bucket as a flat tensor. */
  readonly flat: readonly T[];
}

/** Passes over the batches of a model. Each shape of batch is compiled once. */
export interface GradientPasses<T> {
  /** Only the loss, without dropout. */
  evaluate(batches: readonly LabelledBatch[]): Promise<Evaluation>;
  /** The loss and the gradients of one batch, which the caller releases. */
  gradients(batch: LabelledBatch, numbers: PassNumbers): Promise<Evaluation & LossAndGradients<T>>;
  /** The sum of the gradients of several batches, in memory that the next call overwrites. */
  sum(batches: readonly LabelledBatch[], numbers: PassNumbers): Promise<GradientSum<T>>;
  /** The memory of gradients and of a pass, in bytes. */
  readonly bytes: number;
  release(): void;
}

/** Prepares passes over a model, with gradients with respect to the parameters in the buckets. */
export function gradientPasses<T extends TensorDesc>(
  model: Model<T>,
  buckets: readonly Bucket[],
  { seed, accuracy, labelSmoothing, recomputation }: LossOptions & { readonly seed: number | bigint },
): GradientPasses<T> {
  const { engine, definition } = model;
  const by = buckets.flatMap(({ places }) => [...places.keys()]);
  const passes = passRunner(model, seed, { accuracy, labelSmoothing, recomputation });
  /** Memory for gradients, which all steps share. */
  const memories = new Map<string, GradientMemory<T>>();

  const download = async (numbers: T): Promise<Float32Array> => (await engine.download(numbers)).toFloat32();

  /** The numbers of a summary; releases the summary. */
  async function numbersOf(summary: T): Promise<Float32Array> {
    const numbers = await download(summary);
    engine.release(summary);
    return numbers;
  }

  /** The loss and the accuracy of a whole batch, from the summaries of its parts. */
  function evaluationOf(summaries: readonly Float32Array[]): Evaluation {
    const sum = (place: number): number => summaries.reduce((total, numbers) => total + numbers[place], 0);
    return { loss: sum(0), ...(accuracy && { accuracy: sum(1) }) };
  }

  /**
   * The memory for gradients: of one batch, `stored`, in the dtypes of the parameters; of several batches, in
   * f32, the sums so far, which `even` and `odd` hold alternately.
   */
  const memoryFor = (turn: 'stored' | 'even' | 'odd'): GradientMemory<T> =>
    getOrInsertComputed(memories, turn, () =>
      gradientMemory(engine, buckets, accuracy ? 2 : 1, ({ dtype }) => (turn === 'stored' ? dtype : 'f32')),
    );

  return {
    async evaluate(batches) {
      const summaries: Float32Array[] = [];
      for (const tensors of labelledTensors(definition, batches))
        summaries.push(await numbersOf((await passes.run(tensors, { wanted: { by: [] } })).summary));
      return evaluationOf(summaries);
    },
    async gradients(batch, numbers) {
      const [tensors] = labelledTensors(definition, [batch]);
      const { summary, gradients } = await passes.run(tensors, { ...numbers, wanted: { by } });
      return {
        ...evaluationOf([await numbersOf(summary)]),
        gradients: new Map(by.map((name, n) => [name, gradients[n]])),
      };
    },
    async sum(batches, numbers) {
      const last = batches.length - 1;
      const summaries: Float32Array[] = [];
      let totals: ReadonlyMap<string, T> | undefined;
      let flat: readonly T[] = [];
      for (const [n, tensors] of labelledTensors(definition, batches).entries()) {
        const sum = last === 0 ? undefined : totals ? 'next' : 'first';
        const outputs = memoryFor(sum ? (n % 2 ? 'odd' : 'even') : 'stored');
        await passes.run(tensors, { ...numbers, part: n, wanted: { by, sum }, totals, outputs });
        summaries.push(await (n === last ? outputs.numbers() : download(outputs.summary)));
        ({ flat, views: totals } = outputs);
      }
      return { ...evaluationOf(summaries), squaredNorm: summaries[last].at(-1) ?? 0, flat };
    },
    get bytes() {
      return passes.workspaceBytes + bytesOf([...memories.values()].flatMap(({ flat }) => flat));
    },
    release() {
      for (const held of [passes, ...memories.values()]) held.release();
    },
  };
}
