import {
  checkFunction,
  checkObject,
  InvalidArgumentError,
  InvalidShapeError,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { compileGroup } from '../compile/compile.ts';
import { groupOperations, type OperationGroup, type PartitionPolicy } from '../compile/partition.ts';
import { checkNames } from '../ir/check-names.ts';
import { describeNode, type GraphNode } from '../ir/node.ts';
import { operandForm } from '../ir/program/attention-call.ts';
import { exactJson } from '../ir/schema/exact-json.ts';
import { checkTensor } from '../ir/tensor/check-tensor.ts';
import { describeTensor, type LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { admits } from '../ir/tensor/shape.ts';
import type { KnownTensor } from '../ir/tensor/storage.ts';
import type { Topology } from '../ir/topology.ts';
import { attentionNames } from '../ops/attention/names.ts';
import { comeFromOutside, leaves } from '../passes/fuse/convex.ts';
import type { Match } from '../passes/match.ts';
import { type Bindable, knownTensors } from './bindings/bindable.ts';
import type { Bindings } from './bindings/bindings.ts';
import { checkIds } from './bindings/check-ids.ts';
import {
  type CompiledPartition,
  executeOnce,
  type SharedPartition,
  sharedPartition,
} from './compiled-partition.ts';
import { type Holding, holdPartition } from './compiled-partition-cache.ts';
import { heldPartition } from './held-partition.ts';

/** Tensors of a partition by their ids. */
export interface CompileOptions {
  readonly inputs?: Readonly<Record<number, KnownTensor>> | undefined;
  readonly outputs?: Readonly<Record<number, KnownTensor>> | undefined;
  /**
   * Whether equal partitions share the compiled partition (default); if false, it belongs to the caller
   * alone.
   */
  readonly cached?: boolean | undefined;
  /**
   * Whether a shared partition stays in the engine's cache after its last holder has released it, as after
   * `run`. Default: false.
   */
  readonly kept?: boolean | undefined;
}

/** Operations that run as one unit. */
export interface Partition {
  readonly id: number;
  /**
   * `operation` for a single operation, `operations` for several without attention; else the name of the
   * pattern.
   */
  readonly kind: string;
  /** The ids of the operations in topological order. */
  readonly ops: readonly number[];
  /** The tensors that come from outside the partition, each once. */
  readonly inputs: readonly LogicalTensor[];
  /** The tensors that are read outside the partition, by no operation, or by an `End`. */
  readonly outputs: readonly LogicalTensor[];
  /** Whether the partition can run. */
  readonly supported: boolean;
  /**
   * Compiles the partition for an engine. The same partition with the same shapes on the same engine is
   * compiled only once, unless `cached` is false.
   * @throws InvalidArgumentError for a tensor that is not in the partition; InvalidShapeError when shapes are
   * unknown or do not fit; UnsupportedError when the partition cannot run.
   */
  compile<T extends TensorDesc>(engine: TensorEngine<T>, options?: CompileOptions): CompiledPartition<T>;
  /**
   * Compiles the partition for the bound tensors and runs it once. The engine caches the compiled partition
   * for the next run.
   * @param bindings like those of a compiled partition's `execute`.
   * @returns the outputs by id.
   * @throws the errors of `compile` and `execute`.
   */
  run<T extends TensorDesc>(
    engine: TensorEngine<T>,
    bindings: Bindings<Bindable<T>>,
  ): Promise<Record<number, T>>;
}

/**
 * Divides a graph into partitions, each after those whose results it needs.
 * @throws InvalidArgumentError for an unknown policy.
 */
export function partitionGraph(topology: Topology, policy: PartitionPolicy): Partition[] {
  return groupOperations(topology, policy).map(({ nodes, match }, id) =>
    createPartition(id, match?.kind ?? 'operation', nodes, topology, match),
  );
}

/**
 * The partitions that a whole graph runs as. Neighbouring partitions are merged, so that operations fuse
 * across their borders and intermediate results share memory. Recognised attention remains separate, and so
 * does an operation that overwrites a tensor which other operations read.
 * @param mergesAttention whether attention that is one operation is merged with its neighbours too, unless it
 * must wait for a number.
 */
export function partitionsToRun(
  topology: Topology,
  policy: PartitionPolicy,
  mergesAttention = false,
): Partition[] {
  if (policy !== 'fusion') return partitionGraph(topology, policy);
  const runs: OperationGroup[][] = [];
  const isKnown = ({ attributes, inputs }: GraphNode): boolean =>
    attentionNames(attributes).operands.every(
      (name, n) => operandForm(name) !== 'number' || !topology.producers.has(inputs[n].id),
    );
  // Merged steps that read the overwritten tensor too could move behind the operation, so that a caller could
  // no longer bind the result to the tensor's memory.
  const isOnlyReader = ({ inputs: [overwritten] }: GraphNode): boolean =>
    topology.uses(overwritten.id).length === 1;
  const isPlain = ({ nodes, match }: OperationGroup): boolean =>
    (!match?.form || (mergesAttention && match.form.pass === 'operation' && isKnown(match.form.node))) &&
    nodes.every(
      node =>
        node.kind === 'End' || (node.operation.lower && (!node.operation.inPlace || isOnlyReader(node))),
    );
  for (const group of groupOperations(topology, policy)) {
    const last = runs.at(-1);
    if (last && isPlain(group) && last.every(isPlain)) last.push(group);
    else runs.push([group]);
  }
  return runs.map((groups, id) => {
    const [{ match }, ...more] = groups;
    const own = more.length === 0 ? match : null;
    const kind = more.length === 0 ? (match?.kind ?? 'operation') : 'operations';
    return createPartition(
      id,
      kind,
      groups.flatMap(({ nodes }) => nodes),
      topology,
      own,
    );
  });
}

/** Creates a partition of operations, which are in topological order. */
function createPartition(
  id: number,
  kind: string,
  nodes: readonly GraphNode[],
  topology: Topology,
  match: Match | null,
): Partition {
  const members = new Set(nodes);
  const { inputs, outputs } = boundary(nodes, members, topology);
  const idle = nodes.find(node => node.kind !== 'End' && !node.operation.lower);

  function compile<T extends TensorDesc>(
    engine: TensorEngine<T>,
    options: CompileOptions = {},
  ): CompiledPartition<T> {
    checkEngine(engine);
    checkNames('options', options, ['inputs', 'outputs', 'cached', 'kept']);
    const { inputs: knownInputs, outputs: knownOutputs, cached = true, kept = false } = options;
    if (idle) throw new UnsupportedError(engine.name, [`${describeNode(idle)} computes nothing`]);
    const group = {
      nodes,
      match,
      topology,
      inputs: withKnown('inputs', inputs, knownInputs),
      outputs: withKnown('outputs', outputs, knownOutputs),
    };
    const make = (): SharedPartition<T> => {
      const compiled = compileGroup(group, engine as unknown as TensorEngine<TensorDesc>);
      return sharedPartition(engine, compiled, group);
    };
    const hold = (): Holding<T> => {
      if (!cached) {
        const shared = make();
        return { shared, letGo: shared.release };
      }
      const operations = nodes.map(node => [node.kind, node.attributes, node.inputs, node.outputs]);
      const key = exactJson([operations, kind, group.inputs, group.outputs]);
      return holdPartition(engine, key, make, kept);
    };
    return heldPartition(hold(), bindings => checkIds(bindings, topology.described, group));
  }

  return {
    id,
    kind,
    ops: nodes.map(node => node.id),
    inputs,
    outputs,
    supported: idle === undefined,
    compile,
    async run(engine, bindings) {
      checkIds(bindings, topology.described, { inputs, outputs });
      const compiled = compile(engine, { inputs: knownTensors(inputs, bindings), kept: true });
      return executeOnce(compiled, bindings);
    },
  };
}

/** Checks that an engine supports plain operations; attention alone is not enough for a graph. */
export function checkEngine(engine: unknown): void {
  checkObject('engine', engine);
  const { primitives } = engine as Partial<TensorEngine>;
  checkObject('engine.primitives', primitives);
  checkFunction('engine.primitives.prepare', primitives?.prepare);
}

/** The tensors that enter and leave operations that run together. */
export function boundary(
  nodes: readonly GraphNode[],
  members: ReadonlySet<GraphNode>,
  topology: Topology,
): Pick<Partition, 'inputs' | 'outputs'> {
  const inputs = new Map<number, LogicalTensor>();
  const outputs = new Map<number, LogicalTensor>();
  for (const node of nodes) {
    for (const t of node.inputs) if (comeFromOutside([t.id], members, topology)) inputs.set(t.id, t);
    for (const t of node.outputs) if (leaves(t.id, members, topology)) outputs.set(t.id, t);
  }
  return { inputs: [...inputs.values()], outputs: [...outputs.values()] };
}

/** Tensors with the shapes and strides that are known now. */
export function withKnown(
  argument: string,
  tensors: readonly LogicalTensor[],
  known: Readonly<Record<number, KnownTensor>> = {},
): LogicalTensor[] {
  const stranger = Object.keys(known).find(id => !tensors.some(t => t.id === Number(id)));
  if (stranger !== undefined) {
    throw new InvalidArgumentError(argument, `has tensor ${stranger}, which is not in the partition`);
  }
  return tensors.map(t => {
    const given = known[t.id];
    if (!given) return t;
    checkObject(`tensor ${t.id}`, given);
    const { shape, strides = null } = given;
    checkTensor(`tensor ${t.id}: `, { ...t, name: t.name, shape: shape ?? undefined, strides });
    if (!admits(t.shape, shape)) {
      const rule = `is declared with the shape [${t.shape}], got [${shape}]`;
      throw new InvalidShapeError(`tensor ${describeTensor(t)}`, rule);
    }
    return { ...t, shape, strides };
  });
}
