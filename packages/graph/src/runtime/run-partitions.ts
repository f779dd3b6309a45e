import { copyTensor, type Tensor, type TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { withAllocatedOutputs } from './bindings/allocated-outputs.ts';
import type { Bindable } from './bindings/bindable.ts';
import type { Checked } from './bindings/bindings.ts';
import { KeptTensors } from './bindings/kept-tensors.ts';
import type { Uploads } from './bindings/uploads.ts';
import { type CompiledPartitions, picked } from './compile-partitions.ts';
import { boundTensors } from './executable/bound-tensors.ts';
import type { CompiledPartition } from './partitions/compiled-partition.ts';
import { traced } from './traced.ts';

/** The tensors of a graph by id: the bindings and the intermediate results. */
type GraphTensors<T> = Map<number, Bindable<T>>;

/** A run of a graph. */
export interface GraphRun<T> {
  readonly tensors: GraphTensors<T>;
  /** The bindings of `tensors`, which have been checked. */
  readonly checked: Checked<T>;
  /** The outputs that are read back to the host, by id; they are not in `tensors`. */
  readonly onHost: ReadonlyMap<number, Tensor>;
}

/** Runs the partitions of a graph one after another. */
export interface PartitionRunner<T> {
  /**
   * Runs all partitions, in one submission if possible, and allocates the outputs that are not bound.
   * @returns the outputs by id, without those that are read back.
   */
  run(run: GraphRun<T>): Promise<Record<number, T>>;
  /** Prepares all partitions; returns a function that records them in an encoder, in one recording. */
  prepareEncode(tensors: GraphTensors<T>): (target: object) => void;
  /** Frees the uploads and results that are kept for the next run. */
  release(): void;
}

/** @param trace receives the name of each partition that runs, and of its steps on a host engine. */
export function createPartitionRunner<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { partitions, names, intermediates, ends: { outputs } }: CompiledPartitions<T>,
  trace?: WorkTrace,
): PartitionRunner<T> {
  const kept = new KeptTensors(engine);

  /** The tensors that a partition reads and writes, by id. */
  const endsOf = (partition: CompiledPartition<T>, tensors: GraphTensors<T>): Record<number, Bindable<T>> =>
    picked(tensors, [...partition.inputs, ...partition.outputs]);

  /** Runs the prepared work of all partitions. */
  function runAll(works: readonly (() => void)[]): void {
    for (const [n, work] of works.entries()) traced(trace, names[n], work);
  }

  /**
   * Runs all partitions in one submission. Returns false, without running anything, if a partition must wait
   * for a number.
   * @param readBack requests copies to the host, which join the same submission.
   */
  function runAtOnce(tensors: GraphTensors<T>, uploads: Uploads<T>, readBack: () => void): boolean {
    if (!engine.recording) return false;
    const works: (() => void)[] = [];
    const upload = kept.begin(uploads);
    for (const partition of partitions) {
      const work = partition.prepareRun(endsOf(partition, tensors), upload);
      if (!work) return false;
      works.push(work);
    }
    engine.batch(() => {
      runAll(works);
      readBack();
    });
    return true;
  }

  /**
   * Runs the partitions one by one, and waits for each.
   * @param made the tensors that are not bound, by id.
   */
  async function runInTurn(
    checked: Checked<T>,
    made: Readonly<Record<number, T>>,
    uploads: Uploads<T>,
  ): Promise<void> {
    const bound = boundTensors(checked, kept.begin(uploads), made);
    for (const [n, partition] of partitions.entries()) {
      const waiting = traced(trace, names[n], () => partition.runBound(bound, trace));
      if (waiting) await waiting;
    }
  }

  return {
    async run({ tensors, checked, onHost }) {
      const made: Record<number, T> = Object.fromEntries(intermediates.tensors);
      const add = (id: number, tensor: T): void => {
        tensors.set(id, tensor);
        made[id] = tensor;
      };
      for (const [id, last] of kept.tensors) if (onHost.has(id)) add(id, last);
      const unbound = outputs.filter(({ id }) => !tensors.has(id));
      const copies: Promise<Tensor>[] = [];
      const readBack = (): void => {
        for (const id of onHost.keys()) copies.push(engine.download(tensors.get(id) as T));
      };
      await withAllocatedOutputs(engine, unbound, async (allocated, uploads) => {
        for (const { id } of unbound) add(id, allocated[id]);
        if (!runAtOnce(tensors, uploads, readBack)) {
          await runInTurn(checked, made, uploads);
          readBack();
        }
        const found = await Promise.all(copies);
        for (const [n, [id, given]] of [...onHost].entries()) {
          copyTensor(found[n], given);
          kept.keepResult(id, tensors.get(id) as T);
        }
      });
      const results: Record<number, T> = {};
      for (const { id } of outputs) if (!onHost.has(id)) results[id] = tensors.get(id) as T;
      return results;
    },
    prepareEncode(tensors) {
      const records = partitions.map(partition => partition.prepareEncode(endsOf(partition, tensors)));
      // One recording of all partitions, so that nothing is recorded if a later one cannot be.
      return target =>
        engine.recording?.encode(target, () => runAll(records.map(record => () => record(target))));
    },
    release: () => kept.release(),
  };
}
