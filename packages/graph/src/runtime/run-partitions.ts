import { copyTensor, type Tensor, type TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { withAllocatedOutputs } from './bindings/allocated-outputs.ts';
import type { Bindable } from './bindings/bindable.ts';
import type { Bindings, Checked } from './bindings/bindings.ts';
import { KeptTensors } from './bindings/kept-tensors.ts';
import type { CompiledPartitions } from './compile-partitions.ts';
import { type BoundTensors, boundTensors } from './executable/bound-tensors.ts';
import { traced } from './traced.ts';

/** A run of a graph. */
export interface GraphRun<T> {
  /** The bindings, except of outputs that are read back to the host. */
  readonly checked: Checked<T>;
  /** The outputs that are read back to the host, by id. */
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
  prepareEncode(bindings: Bindings<Bindable<T>>): (target: object) => void;
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

  /** Runs the prepared work of all partitions. */
  function runAll(works: readonly (() => void)[]): void {
    for (const [n, work] of works.entries()) traced(trace, names[n], work);
  }

  /**
   * Runs all partitions in one submission. Returns false, without running anything, if a partition must wait
   * for a number.
   * @param readBack requests copies to the host, which join the same submission.
   */
  function runAtOnce(bound: BoundTensors<T>, readBack: () => void): boolean {
    if (!engine.recording) return false;
    const works: (() => void)[] = [];
    for (const partition of partitions) {
      const work = partition.prepareRun(bound);
      if (!work) return false;
      works.push(work);
    }
    engine.batch(() => {
      runAll(works);
      readBack();
    });
    return true;
  }

  /** Runs the partitions one by one, and waits for each. */
  async function runInTurn(bound: BoundTensors<T>): Promise<void> {
    for (const [n, partition] of partitions.entries()) {
      const waiting = traced(trace, names[n], () => partition.runBound(bound, trace));
      if (waiting) await waiting;
    }
  }

  return {
    async run({ checked, onHost }) {
      /** The tensors that are not bound, by id. */
      const made: Record<number, T> = Object.fromEntries(intermediates.tensors);
      for (const [id, last] of kept.tensors) if (onHost.has(id)) made[id] = last;
      const unbound = checked.unbound.filter(({ id }) => !made[id]);
      const copies: Promise<Tensor>[] = [];
      const readBack = (): void => {
        for (const id of onHost.keys()) copies.push(engine.download(made[id]));
      };
      await withAllocatedOutputs(engine, unbound, async (allocated, uploads) => {
        Object.assign(made, allocated);
        const bound = boundTensors(checked, kept.begin(uploads), made);
        if (!runAtOnce(bound, readBack)) {
          await runInTurn(bound);
          readBack();
        }
        const found = await Promise.all(copies);
        for (const [n, [id, given]] of [...onHost].entries()) {
          copyTensor(found[n], given);
          kept.keepResult(id, made[id]);
        }
      });
      const results: Record<number, T> = {};
      for (const { id } of outputs)
        if (!onHost.has(id)) results[id] = made[id] ?? (checked.onEngine.get(id) as T);
      return results;
    },
    prepareEncode(bindings) {
      const records = partitions.map(partition => {
        const ends = [...partition.inputs, ...partition.outputs].map(({ id }) => id);
        return partition.prepareEncode(
          Object.fromEntries(ends.map(id => [id, intermediates.tensors.get(id) ?? bindings[id]])),
        );
      });
      // One recording of all partitions, so that nothing is recorded if a later one cannot be.
      return target =>
        engine.recording?.encode(target, () => runAll(records.map(record => () => record(target))));
    },
    release: () => kept.release(),
  };
}
