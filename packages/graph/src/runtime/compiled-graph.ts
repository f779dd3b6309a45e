import { Tensor, type TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { type KnownTensor, storageDesc } from '../ir/tensor/storage.ts';
import type { Topology } from '../ir/topology.ts';
import { type Bindable, checkBound } from './bindings/bindable.ts';
import { type Bindings, createCheckBindings } from './bindings/bindings.ts';
import { checkIds } from './bindings/check-ids.ts';
import { compilePartitions } from './compile-partitions.ts';
import type { CompiledPartition } from './partitions/compiled-partition.ts';
import type { CompileOptions, Partition } from './partitions/partition.ts';
import { createPartitionRunner } from './run-partitions.ts';
import { SerialQueue } from './serial-queue.ts';

/** A compiled graph with known shapes, ready for repeated runs on an engine. */
export interface CompiledGraph<T extends TensorDesc = TensorDesc> {
  /** The inputs, with the shapes that the graph was compiled for. */
  readonly inputs: readonly LogicalTensor[];
  /** The outputs, with the shapes that the graph was compiled for. */
  readonly outputs: readonly LogicalTensor[];
  /** The partitions, in the order in which they run. They are released with the graph. */
  readonly partitions: readonly CompiledPartition<T>[];
  /**
   * The memory for intermediate results in bytes, held until `release`. On an engine that copies host
   * tensors, the graph also holds a tensor for each small host tensor or number that is bound.
   */
  readonly workspaceBytes: number;
  /**
   * Runs the graph after earlier executions, because all share the memory of the intermediate results.
   * @param bindings the inputs by tensor id: the engine's tensors, host tensors or numbers; do not change or
   * release them until the promise has settled. Outputs may be bound too; an unbound output is allocated. An
   * output that is bound to a host tensor is read back from the device, in the submission that computes it.
   * An engine that does not prepare attention, such as the reference, also allocates the results of attention
   * during the execution.
   * @returns the outputs by id, without those that are read back.
   * @throws the errors of a compiled partition's `execute`, before anything runs.
   */
  execute(bindings: Bindings<Bindable<T>>): Promise<Record<number, T>>;
  /**
   * Records the graph in the caller's encoder, like a compiled partition's `encode`. If `encode` throws,
   * nothing has been recorded. The recorded work uses the memory of the intermediate results too, so submit
   * it while no `execute` is in progress.
   */
  encode(target: object, bindings: Bindings<Bindable<T>>): void;
  /**
   * Frees the memory after pending executions. Submit encoded work before this call. The graph cannot run
   * afterwards.
   */
  release(): void;
}

/**
 * Compiles the partitions of a graph for an engine; on an error it releases everything.
 * @param sharing the options `cached` and `kept` of a partition's `compile`.
 * @param trace receives the name of each partition that runs, and of its steps on a host engine.
 */
export function compileGraph<T extends TensorDesc>(
  topology: Topology,
  parts: readonly Partition[],
  engine: TensorEngine<T>,
  inputs: Readonly<Record<number, KnownTensor>>,
  sharing: Pick<CompileOptions, 'cached' | 'kept'>,
  trace?: WorkTrace,
): CompiledGraph<T> {
  const compiled = compilePartitions(topology, parts, engine, inputs, sharing);
  const { partitions, intermediates, ends } = compiled;
  const { outputs } = ends;
  const shaped = new Map(ends.inputs.map(t => [t.id, t] as const));
  const own = { inputs: topology.inputs.map(t => shaped.get(t.id) ?? t), outputs };
  const { check, release: forgetTensors } = createCheckBindings(engine.primitives, ends);
  const turns = new SerialQueue('graph');
  const runner = createPartitionRunner(engine, compiled, trace);

  function checkCall(bindings: Bindings<Bindable<T>>): void {
    turns.check();
    checkIds(bindings, topology.described, own);
  }

  return {
    ...own,
    partitions,
    get workspaceBytes() {
      return partitions.reduce((sum, { workspaceBytes }) => sum + workspaceBytes, intermediates.bytes);
    },
    encode(target, bindings) {
      checkCall(bindings);
      const record = runner.prepareEncode(bindings);
      check(bindings);
      record(target);
    },
    async execute(bindings) {
      checkCall(bindings);
      const onHost = new Map<number, Tensor>();
      const others: Record<number, Bindable<T>> = { ...bindings };
      for (const t of engine.recording ? outputs : []) {
        const given = bindings[t.id];
        if (!(given instanceof Tensor)) continue;
        checkBound(t, given, storageDesc(t));
        onHost.set(t.id, given);
        delete others[t.id];
      }
      const checked = check(others);
      return turns.run(() => runner.run({ checked, onHost }));
    },
    release() {
      turns.release(() => {
        forgetTensors();
        for (const partition of partitions) partition.release();
        intermediates.release();
        runner.release();
      });
    },
  };
}
