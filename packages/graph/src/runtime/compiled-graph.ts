import { copyTensor, Tensor, type TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Overwrites } from '../compile/overwrites.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { isScalarValue } from '../ir/tensor/scalar.ts';
import { type KnownTensor, knownOf, scalarTensor, storageDesc } from '../ir/tensor/storage.ts';
import type { Topology } from '../ir/topology.ts';
import { type Bindable, checkBound } from './bindings/bindable.ts';
import { type Bindings, createCheckBindings } from './bindings/bindings.ts';
import { checkIds } from './bindings/check-ids.ts';
import { LastUploads } from './bindings/last-uploads.ts';
import { Uploads } from './bindings/uploads.ts';
import type { BoundTensors } from './executable/bound-tensors.ts';
import { allocateIntermediates, type Intermediates } from './intermediates.ts';
import type { CompiledPartition } from './partitions/compiled-partition.ts';
import type { CompileOptions, Partition } from './partitions/partition.ts';
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
  const known = new Map(Object.entries(inputs).map(([id, tensor]) => [Number(id), tensor]));
  const results = new Set(topology.outputs.map(t => t.id));
  const isBetween = (id: number): boolean => topology.producers.has(id) && !results.has(id);
  const partitions: CompiledPartition<T>[] = [];
  const names: string[] = [];
  let between: Intermediates<T>;
  try {
    for (const partition of parts) {
      if (partition.outputs.length === 0) continue;
      const compiled = partition.compile(engine, { ...sharing, inputs: picked(known, partition.inputs) });
      for (const t of compiled.outputs) known.set(t.id, knownOf(t, storageDesc(t)));
      partitions.push(compiled);
      names.push(nameOf(topology, partition));
    }
    between = allocateIntermediates(engine, partitions, isBetween);
  } catch (error) {
    for (const partition of partitions) partition.release();
    throw error;
  }
  const outputs = partitions.flatMap(({ outputs: all }) => all.filter(t => results.has(t.id)));

  const shaped = new Map(partitions.flatMap(partition => partition.inputs.map(t => [t.id, t] as const)));
  const overwrites: Overwrites = (output, input) => {
    const has = (tensors: readonly LogicalTensor[], id: number): boolean => tensors.some(t => t.id === id);
    const writer = partitions.findIndex(partition => has(partition.outputs, output));
    return partitions.every(
      (partition, n) =>
        n < writer || !has(partition.inputs, input) || (n === writer && partition.overwrites(output, input)),
    );
  };
  const own = { inputs: topology.inputs.map(t => shaped.get(t.id) ?? t), outputs };
  const read = { inputs: topology.inputs.flatMap(({ id }) => shaped.get(id) ?? []), outputs, overwrites };
  const ids = [...read.inputs, ...outputs].map(({ id }) => id);
  const scalars = new Map(read.inputs.map(t => [t.id, t] as const));
  /** Tensors that the partitions write. */
  const written = new Set(partitions.flatMap(partition => partition.outputs.map(({ id }) => id)));
  const { check, release: forgetTensors } = createCheckBindings(engine.primitives, read);
  const turns = new SerialQueue('graph');
  const lastUploads = new LastUploads(engine);

  function bind(bindings: Bindings<Bindable<T>>): Map<number, Bindable<T>> {
    turns.check();
    checkIds(bindings, topology.described, own);
    const tensors = new Map<number, Bindable<T>>(between.tensors);
    for (const id of ids) {
      const bound = bindings[id];
      if (bound !== undefined) tensors.set(id, bound);
    }
    return tensors;
  }

  /** @param onHost outputs that are read back to the host, by id. */
  async function run(
    tensors: Map<number, Bindable<T>>,
    onHost: ReadonlyMap<number, Tensor>,
  ): Promise<Record<number, T>> {
    const allocated: T[] = [];
    const uploads = new Uploads(engine);
    const copies: Promise<Tensor>[] = [];
    const readBack = (): void => {
      for (const id of onHost.keys()) copies.push(engine.download(tensors.get(id) as T));
    };
    try {
      for (const t of outputs) {
        if (tensors.has(t.id)) continue;
        const tensor = engine.primitives.allocate(storageDesc(t));
        allocated.push(tensor);
        tensors.set(t.id, tensor);
      }
      if (!runAtOnce(tensors, uploads, readBack)) {
        const bound = boundTo(tensors, lastUploads.begin(uploads));
        for (const [n, partition] of partitions.entries()) {
          const leave = trace?.enter(names[n]);
          try {
            const waiting = partition.runBound(bound, trace);
            if (waiting) await waiting;
          } finally {
            leave?.();
          }
        }
        readBack();
      }
      const found = await Promise.all(copies);
      for (const [n, [id, given]] of [...onHost].entries()) {
        copyTensor(found[n], given);
        engine.release(tensors.get(id) as T);
      }
    } catch (error) {
      for (const tensor of allocated) engine.release(tensor);
      throw error;
    } finally {
      uploads.release();
    }
    const results: Record<number, T> = {};
    for (const { id } of outputs) if (!onHost.has(id)) results[id] = tensors.get(id) as T;
    return results;
  }

  /** The tensors that partitions read and write, from checked bindings. */
  function boundTo(
    tensors: ReadonlyMap<number, Bindable<T>>,
    upload: (given: Tensor, id: number) => T,
  ): BoundTensors<T> {
    const host = (id: number): Tensor | undefined => {
      const given = tensors.get(id);
      if (given instanceof Tensor) return given;
      const logical = scalars.get(id);
      return logical && isScalarValue(given) ? scalarTensor(logical, given) : undefined;
    };
    return {
      host,
      tensor(id) {
        const given = host(id);
        if (given === undefined) return tensors.get(id) as T;
        return written.has(id) ? (given as TensorDesc as T) : upload(given, id);
      },
    };
  }

  /**
   * Runs all partitions in one submission. Returns false, without running anything, if a partition must wait
   * for a number.
   * @param readBack requests copies to the host, which join the same submission.
   */
  function runAtOnce(
    tensors: ReadonlyMap<number, Bindable<T>>,
    uploads: Uploads<T>,
    readBack: () => void,
  ): boolean {
    if (!engine.recording) return false;
    const works: (() => void)[] = [];
    const upload = lastUploads.begin(uploads);
    for (const partition of partitions) {
      const work = partition.prepareRun(ends(partition, tensors), upload);
      if (!work) return false;
      works.push(work);
    }
    engine.batch(() => {
      works.forEach((work, n) => {
        const leave = trace?.enter(names[n]);
        work();
        leave?.();
      });
      readBack();
    });
    return true;
  }

  return {
    ...own,
    partitions,
    get workspaceBytes() {
      return partitions.reduce((sum, { workspaceBytes }) => sum + workspaceBytes, between.bytes);
    },
    encode(target, bindings) {
      const tensors = bind(bindings);
      const records = partitions.map(partition => partition.prepareEncode(ends(partition, tensors)));
      check(bindings);
      // One recording of all partitions, so that nothing is recorded if a later one cannot be.
      engine.recording?.encode(target, () => {
        records.forEach((record, n) => {
          const leave = trace?.enter(names[n]);
          record(target);
          leave?.();
        });
      });
    },
    async execute(bindings) {
      const tensors = bind(bindings);
      const onHost = new Map<number, Tensor>();
      const others: Record<number, Bindable<T>> = engine.recording ? { ...bindings } : bindings;
      for (const t of engine.recording ? outputs : []) {
        const given = tensors.get(t.id);
        if (!(given instanceof Tensor)) continue;
        checkBound(t, given, storageDesc(t));
        onHost.set(t.id, given);
        tensors.delete(t.id);
        delete others[t.id];
      }
      check(others);
      return turns.run(() => run(tensors, onHost));
    },
    release() {
      turns.release(() => {
        forgetTensors();
        for (const partition of partitions) partition.release();
        between.release();
        lastUploads.release();
      });
    },
  };
}

/** The name of a partition in traces: its kind and its id. */
function nameOf({ order }: Topology, { id, kind, ops }: Partition): string {
  const own = kind === 'operation' ? order.find(node => node.id === ops[0])?.kind : kind;
  return `${own ?? kind} ${id}`;
}

/** The tensors that a partition reads and writes, by id. */
function ends<V>(
  { inputs, outputs }: Pick<CompiledPartition, 'inputs' | 'outputs'>,
  tensors: ReadonlyMap<number, V>,
): Record<number, V> {
  return picked(tensors, [...inputs, ...outputs]);
}

function picked<V>(all: ReadonlyMap<number, V>, tensors: readonly LogicalTensor[]): Record<number, V> {
  const found: Record<number, V> = {};
  for (const { id } of tensors) {
    const value = all.get(id);
    if (value !== undefined) found[id] = value;
  }
  return found;
}
