import { describeValue, InvalidArgumentError, type TensorDesc, UnsupportedError } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { compileGroup } from '../../compile/compile.ts';
import type { OperationGroup } from '../../compile/partition.ts';
import { checkNames } from '../../ir/check-names.ts';
import { describeNode } from '../../ir/node.ts';
import { exactJson } from '../../ir/schema/exact-json.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { KnownTensor } from '../../ir/tensor/storage.ts';
import type { Topology } from '../../ir/topology.ts';
import { type Bindable, knownTensors } from '../bindings/bindable.ts';
import type { Bindings } from '../bindings/bindings.ts';
import { checkIds } from '../bindings/check-ids.ts';
import { boundary, withKnown } from './boundary-tensors.ts';
import { type CompiledPartition, executeOnce } from './compiled-partition.ts';
import { type Holding, holdPartition } from './compiled-partition-cache.ts';
import { heldPartition } from './held-partition.ts';
import { type SharedPartition, sharedPartition } from './shared-partition.ts';

/** Tensors of a partition by their ids. */
export interface CompileOptions {
  /** Shapes (and strides) of inputs that the graph does not declare, by tensor id. */
  readonly inputs?: Readonly<Record<number, KnownTensor>> | undefined;
  /** Shapes (and strides) of outputs that the graph does not declare, by tensor id. Default: inferred. */
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
  /** Unique among the partitions of a graph. */
  readonly id: number;
  /**
   * The name of the pattern that was recognised, such as `sdpa-training` or `fused-operations`; `operation`
   * for a single operation. In a compiled graph, `operations` for neighbouring partitions that were merged.
   */
  readonly kind: string;
  /** The ids of the operations in topological order. */
  readonly ops: readonly number[];
  /** The tensors that come from outside the partition, each once. */
  readonly inputs: readonly LogicalTensor[];
  /** The tensors that an operation outside the partition or an `End` reads, or that nothing reads. */
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

/** Creates a partition of operations, which are in topological order. */
export function createPartition(id: number, { nodes, match }: OperationGroup, topology: Topology): Partition {
  const kind = match?.kind ?? (nodes.length === 1 ? 'operation' : 'operations');
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
    if (idle)
      throw new UnsupportedError(engine.name, [
        `${describeNode(idle)} computes nothing: bind its results to the partitions that read them`,
      ]);
    const group = {
      nodes,
      match,
      topology,
      inputs: withKnown('inputs', inputs, knownInputs),
      outputs: withKnown('outputs', outputs, knownOutputs),
    };
    const make = (): SharedPartition<T> =>
      sharedPartition(engine, compileGroup(group, engine as unknown as TensorEngine<TensorDesc>), group);
    const held = (holding: Holding<T>): CompiledPartition<T> =>
      heldPartition(holding, bindings => checkIds(bindings, topology.described, group));
    if (cached) {
      const operations = nodes.map(node => [node.kind, node.attributes, node.inputs, node.outputs]);
      const key = exactJson([operations, kind, group.inputs, group.outputs]);
      return held(holdPartition(engine, key, make, kept));
    }
    const shared = make();
    return held({ shared, letGo: shared.release });
  }

  return {
    id,
    kind,
    ops: nodes.map(node => node.id),
    inputs,
    outputs,
    supported: !idle,
    compile,
    async run(engine, bindings) {
      checkIds(bindings, topology.described, { inputs, outputs });
      return executeOnce(compile(engine, { inputs: knownTensors(inputs, bindings), kept: true }), bindings);
    },
  };
}

/** Checks that an engine supports primitives; attention alone is not enough for a graph. */
export function checkEngine(engine: unknown): void {
  if (typeof (engine as Partial<TensorEngine> | undefined)?.primitives?.prepare !== 'function')
    throw new InvalidArgumentError(
      'engine',
      `must be an engine, such as cpuEngine() or webgpuEngine(ctx), got ${describeValue(engine)}`,
    );
}
