import { checkFunction, checkObject, InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { traitsOf } from './compile/engine-traits.ts';
import type { PartitionPolicy } from './compile/partition.ts';
import { type GraphHeader, type OneDnnGraph, standardHeader } from './formats/json/format.ts';
import { readJson } from './formats/json/read.ts';
import { graphToJson } from './formats/json/write.ts';
import { checkNames } from './ir/check-names.ts';
import { GraphBuilder } from './ir/graph-builder.ts';
import type { GraphNode } from './ir/node.ts';
import type { LogicalTensor } from './ir/tensor/logical-tensor.ts';
import type { KnownTensor } from './ir/tensor/storage.ts';
import type { OperationOptions } from './ops/operation-options.ts';
import { type OperationKind, operationsByKind } from './ops/table.ts';
import { type Bindable, knownTensors } from './runtime/bindings/bindable.ts';
import type { Bindings } from './runtime/bindings/bindings.ts';
import { checkIds } from './runtime/bindings/check-ids.ts';
import { type CompiledGraph, compileGraph } from './runtime/compiled-graph.ts';
import { executeOnce } from './runtime/partitions/compiled-partition.ts';
import { checkEngine, type Partition } from './runtime/partitions/partition.ts';
import { partitionGraph, partitionsToRun } from './runtime/partitions/partitions-of-graph.ts';

/** A graph of tensor operations: build it, finalize it, then partition and run it. */
export class Graph extends GraphBuilder {
  /** The header of oneDNN's JSON: version, engine kind and math mode. Execution does not depend on it. */
  readonly header: GraphHeader;

  /**
   * @param others tensors of another graph that this graph also uses, such as a backward graph's forward
   * tensors; they keep their ids.
   * @throws InvalidArgumentError if the header is not an object.
   */
  constructor(header: Partial<GraphHeader> = {}, others: Iterable<LogicalTensor> = []) {
    checkObject('header', header);
    super(operationsByKind, others);
    this.header = { ...standardHeader, ...header };
  }

  /** Reads oneDNN's JSON, as text or parsed. The graph is not finalized yet. */
  static fromJSON(json: OneDnnGraph | string): Graph {
    const { header, operations } = readJson(json);
    const graph = new Graph(header);
    for (const operation of operations) graph.add(operation());
    return graph;
  }

  /**
   * Adds an operation, with types that follow from the kind. Use `add` for a kind that the compiler does not
   * know.
   * @throws the errors of `add`.
   */
  op<K extends OperationKind>(kind: K, options: OperationOptions<K>): GraphNode {
    checkNames('options', options, ['attrs', 'inputs', 'outputs', 'id', 'name']);
    return this.add({ ...options, kind });
  }

  /**
   * The partitions of the graph, in an order in which they can run.
   * @param options.policy `fusion` (default) combines the operations that it recognises; `debug` runs each on
   * its own.
   * @throws InvalidGraphError before `finalize`; InvalidArgumentError for an unknown policy.
   */
  partitions(options: { readonly policy?: PartitionPolicy | undefined } = {}): Partition[] {
    checkNames('options', options, ['policy']);
    return partitionGraph(this.topology, options.policy ?? 'fusion');
  }

  /**
   * Finalizes (if needed), partitions and compiles the graph for repeated runs. The result belongs to the
   * caller and is not in the engine's cache.
   * @param options.inputs shapes (and strides) by tensor id of the inputs whose shapes the graph does not
   * declare.
   * @param options.policy as for `partitions`.
   * @param options.trace receives the name of each partition that runs, as `<kind> <id>`, and the kinds of
   * its steps on an engine of the host.
   * @throws the errors of `finalize`; InvalidArgumentError for an id that no tensor has; InvalidShapeError
   * when shapes are unknown or do not fit; UnsupportedError when an operation cannot run.
   */
  compile<T extends TensorDesc>(
    engine: TensorEngine<T>,
    options: {
      readonly inputs?: Readonly<Record<number, KnownTensor>> | undefined;
      readonly policy?: PartitionPolicy | undefined;
      readonly trace?: WorkTrace | undefined;
    } = {},
  ): CompiledGraph<T> {
    checkNames('options', options, ['inputs', 'policy', 'trace']);
    const { inputs = {}, policy, trace } = options;
    if (trace !== undefined) checkFunction('options.trace.enter', trace?.enter);
    const { topology } = this.finalize();
    checkIds(inputs, topology.described, topology, 'options.inputs');
    checkEngine(engine);
    return compileGraph(
      topology,
      partitionsToRun(topology, policy ?? 'fusion', traitsOf(engine).readsViews),
      engine,
      inputs,
      { cached: false },
      trace,
    );
  }

  /**
   * Finalizes (if needed), partitions, compiles and runs the graph. The engine caches the compiled graph for
   * the next run.
   * @param inputs the values by tensor id: the engine's tensors, host tensors, or numbers for scalars.
   * Outputs may be bound too, as for `execute` of a compiled graph.
   * @param options.policy as for `partitions`.
   * @returns the graph's outputs by id, as the engine's tensors.
   * @throws the errors of `finalize`, `compile` and `execute`.
   */
  async run<T extends TensorDesc>(
    engine: TensorEngine<T>,
    inputs: Bindings<Bindable<T>>,
    options: { readonly policy?: PartitionPolicy | undefined } = {},
  ): Promise<Record<number, T>> {
    checkObject('inputs', inputs);
    const { topology } = this.finalize();
    const partitions = this.partitions(options);
    checkIds(inputs, topology.described, topology);
    const missing = topology.inputs.find(({ id }) => inputs[id] === undefined);
    if (missing)
      throw new InvalidArgumentError(`tensor ${missing.id}`, 'is an input of the graph and is not bound');
    const known = knownTensors(topology.inputs, inputs);
    return executeOnce(compileGraph(topology, partitions, engine, known, { kept: true }), inputs);
  }

  /** The graph in oneDNN's format; `formatJson` writes it as text. */
  toJSON(): OneDnnGraph {
    return graphToJson(this);
  }
}
