import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  type TensorDesc,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { InvalidGraphError, InvalidOperationError } from '../errors.ts';
import type { Bindings } from '../execution/bindings.ts';
import { type CompiledGraph, compileGraph } from '../execution/compiled-graph.ts';
import { runGraph } from '../execution/run-graph.ts';
import type { Bindable, KnownTensor } from '../execution/storage.ts';
import type { OneDnnGraph } from '../json/format.ts';
import { graphFromJson } from '../json/read.ts';
import { graphToJson } from '../json/write.ts';
import { operationOf } from '../operations/index.ts';
import type { Partition } from '../partition/partition.ts';
import { type PartitionPolicy, partitionGraph } from '../partition/partitions.ts';
import { checkOperation } from '../schema/check.ts';
import type { Attributes } from '../schema/operation.ts';
import { type GraphDType, isGraphDType } from '../tensor/dtype.ts';
import {
  type LogicalShape,
  type LogicalTensor,
  type TensorProperty,
  UNKNOWN,
} from '../tensor/logical-tensor.ts';
import { type Annotation, describeNode, type GraphNode } from './node.ts';
import { checkOutputs } from './outputs.ts';
import { connect, type Topology } from './topology.ts';

/** A tensor to be; `shape` may hold `UNKNOWN`, or be null when not even its rank is known. */
export interface TensorOptions {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly dtype: GraphDType;
  readonly shape?: LogicalShape | undefined;
  readonly strides?: readonly number[] | undefined;
  readonly property?: TensorProperty | undefined;
}

/** An operation to be. */
export interface OperationOptions {
  readonly attrs?: Attributes | undefined;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
  readonly id?: number | undefined;
  readonly name?: string | undefined;
}

/** Ids of the tensors that enter (once per input of an operation) and leave a graph. */
export interface Ports {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** What a graph of oneDNN's says about itself besides its operations. */
export interface GraphHeader {
  readonly version: string;
  readonly engineKind: string;
  readonly fpmathMode: string;
  readonly fpmathModeApplyToInt?: boolean | undefined;
  /** The ports that its JSON lists: as they follow from the operations, none, or those that a file had. */
  readonly ports: 'derived' | 'none' | Ports;
}

const standardHeader: GraphHeader = {
  version: '3.12.0',
  engineKind: 'any',
  fpmathMode: 'strict',
  ports: 'derived',
};

/** A graph of tensor operations: built, then finalized, then partitioned and run. */
export class Graph {
  readonly header: GraphHeader;
  readonly #nodes: GraphNode[] = [];
  readonly #ids = new Set<number>();
  readonly #described = new Map<number, LogicalTensor>();
  #nextTensor = 0;
  #nextNode = 0;
  #topology: Topology | undefined;

  /**
   * @param others tensors of another graph that this one goes with: they keep their ids.
   * @throws InvalidArgumentError for what is no header.
   */
  constructor(header: Partial<GraphHeader> = {}, others: Iterable<LogicalTensor> = []) {
    checkObject('header', header);
    this.header = { ...standardHeader, ...header };
    for (const t of others) this.#describe(t);
  }

  /** Reads oneDNN's JSON, as text or parsed. The graph is not finalized yet. */
  static fromJSON(json: OneDnnGraph | string): Graph {
    return graphFromJson(json);
  }

  /** The operations, in the order in which they were added. */
  get nodes(): readonly GraphNode[] {
    return this.#nodes;
  }

  get isFinalized(): boolean {
    return this.#topology !== undefined;
  }

  /**
   * How the operations hang together.
   * @throws InvalidGraphError before `finalize`.
   */
  get topology(): Topology {
    if (this.#topology) return this.#topology;
    throw new InvalidGraphError('the graph must be finalized first');
  }

  /** Read by an operation and produced by none. */
  get inputs(): readonly LogicalTensor[] {
    return this.topology.inputs;
  }

  /** Produced, and read by no operation or by an `End`. */
  get outputs(): readonly LogicalTensor[] {
    return this.topology.outputs;
  }

  /**
   * A logical tensor. The same id twice is the same tensor, and must be described alike.
   * @throws InvalidDTypeError, InvalidShapeError or InvalidArgumentError for what no tensor can be.
   */
  tensor(options: TensorOptions): LogicalTensor {
    checkObject('options', options);
    const { id, name, dtype, shape = null, strides, property = 'undef' } = options;
    if (!isGraphDType(dtype)) throw new InvalidDTypeError('dtype', `'${String(dtype)}' is not a dtype`);
    if (shape !== null && !areIntegers(shape, UNKNOWN)) {
      throw new InvalidShapeError(
        'shape',
        `must hold integers ≥ 0, or −1 where unknown, got ${listText(shape)}`,
      );
    }
    if (strides && (!areIntegers(strides, 0) || strides.length !== shape?.length)) {
      throw new InvalidShapeError('strides', `must be one integer ≥ 0 per extent, got ${listText(strides)}`);
    }
    if (id !== undefined && (!Number.isSafeInteger(id) || id < 0)) {
      throw new InvalidArgumentError('id', `must be an integer ≥ 0, got ${id}`);
    }
    const scalar = ['i32', 'f32', 'i64'].includes(dtype) && shape?.length === 0;
    if (property === 'host_scalar' && !scalar) {
      throw new InvalidArgumentError(
        'property',
        `host_scalar is for i32, f32 or i64 of shape [], got ${dtype} [${shape}]`,
      );
    }
    return this.#describe({
      id: id ?? this.#nextTensor,
      ...(name !== undefined && { name }),
      dtype,
      shape: shape && [...shape],
      strides: strides ? [...strides] : null,
      layout: 'strided',
      property,
    });
  }

  /**
   * Adds an operation.
   * @throws InvalidOperationError when its schema does not allow it; InvalidGraphError once the graph is finalized, or for an
   * id that another operation has.
   */
  op(kind: string, options: OperationOptions): GraphNode {
    checkObject('options', options);
    const { attrs = {}, inputs, outputs, id, name = '' } = options;
    checkObject('attrs', attrs);
    return this.add({ kind, given: attrs, inputs, outputs, id: id ?? this.#nextNode, name });
  }

  /** Adds an operation that says everything itself; as `op`. */
  add(node: {
    readonly kind: string;
    readonly given: Attributes;
    readonly inputs: readonly LogicalTensor[];
    readonly outputs: readonly LogicalTensor[];
    readonly id: number;
    readonly name: string;
    readonly annotations?: Readonly<Record<string, Annotation>>;
  }): GraphNode {
    const label = describeNode(node);
    if (this.#topology) throw new InvalidGraphError(`${label} cannot be added: the graph is finalized`);
    if (!Number.isSafeInteger(node.id) || node.id < 0) {
      throw new InvalidOperationError(label, `its id must be an integer ≥ 0`);
    }
    if (this.#ids.has(node.id))
      throw new InvalidGraphError(`${label}: the graph has an operation ${node.id} already`);
    const operation = operationOf(node.kind);
    if (!operation) throw new InvalidOperationError(label, 'there is no operation of this kind');
    checkTensors(label, 'inputs', node.inputs);
    checkTensors(label, 'outputs', node.outputs);
    const attributes = checkOperation(label, operation, node.given, node.inputs, node.outputs);
    const added: GraphNode = { annotations: {}, ...node, operation, attributes };
    this.#nodes.push(added);
    this.#ids.add(node.id);
    this.#nextNode = Math.max(this.#nextNode, node.id + 1);
    for (const t of [...node.inputs, ...node.outputs]) this.#describe(t);
    return added;
  }

  #describe(tensor: LogicalTensor): LogicalTensor {
    this.#described.set(tensor.id, tensor);
    this.#nextTensor = Math.max(this.#nextTensor, tensor.id + 1);
    return tensor;
  }

  /**
   * Connects the operations. Afterwards nothing can be added. Shapes may be given later, so that whether they fit each other, as those of
   * a product's operands, is found when a partition or the graph is compiled, or run: shapes are inferred there, and an InvalidShapeError
   * names the operation and its tensors.
   * @param outputs all that the graph is to give; without them, everything that is produced and not read.
   * @throws InvalidGraphError for descriptions of a tensor that differ, two producers of one, a cycle, or where what the graph gives
   * is not `outputs`; the graph can then still be changed.
   */
  finalize({ outputs }: { readonly outputs?: readonly LogicalTensor[] | undefined } = {}): this {
    const topology = this.#topology ?? connect(this.#nodes, this.#described);
    if (outputs) checkOutputs(topology, outputs);
    this.#topology = topology;
    return this;
  }

  /**
   * The graph in parts that each run as one, in an order in which they can run.
   * @throws InvalidGraphError before `finalize`; InvalidArgumentError for a policy that there is not.
   */
  partitions(options: { readonly policy?: PartitionPolicy | undefined } = {}): Partition[] {
    checkObject('options', options);
    return partitionGraph(this.topology, options.policy ?? 'fusion');
  }

  /**
   * Partitions and compiles the graph, to run it again and again; finalizes it if need be. What is compiled belongs to the caller
   * alone: it is not in the engine's cache.
   * @param options.inputs shapes (and strides) of inputs by id, where the graph does not say them.
   * @throws what `finalize` throws; InvalidShapeError when shapes are unknown or do not fit; UnsupportedError when an operation
   * cannot run.
   */
  compile<T extends TensorDesc>(
    engine: TensorEngine<T>,
    options: {
      readonly inputs?: Readonly<Record<number, KnownTensor>> | undefined;
      readonly policy?: PartitionPolicy | undefined;
    } = {},
  ): CompiledGraph<T> {
    checkObject('options', options);
    const { inputs = {}, policy } = options;
    checkObject('options.inputs', inputs);
    this.finalize();
    return compileGraph(this.topology, this.partitions({ policy }), engine, inputs, { cached: false });
  }

  /**
   * Partitions, compiles and runs the graph; finalizes it if need be. The engine keeps what was compiled for the next time.
   * @param inputs by tensor id: the engine's tensors, host tensors, or numbers for scalars. Outputs may be bound too, as for `execute`
   * of a compiled graph.
   * @returns the graph's outputs by id, as the engine's tensors.
   * @throws what `finalize`, `compile` and `execute` throw.
   */
  async run<T extends TensorDesc>(
    engine: TensorEngine<T>,
    inputs: Bindings<Bindable<T>>,
    options: { readonly policy?: PartitionPolicy | undefined } = {},
  ): Promise<Record<number, T>> {
    checkObject('inputs', inputs);
    this.finalize();
    return runGraph(this.topology, this.partitions(options), engine, inputs);
  }

  /** The graph in oneDNN's format; `formatJson` writes it as text. */
  toJSON(): OneDnnGraph {
    return graphToJson(this);
  }
}

function areIntegers(list: unknown, least: number): list is number[] {
  return Array.isArray(list) && list.every(n => Number.isSafeInteger(n) && n >= least);
}

function listText(list: unknown): string {
  return Array.isArray(list) ? `[${list}]` : describeValue(list);
}

function checkTensors(label: string, what: 'inputs' | 'outputs', tensors: unknown): void {
  const isTensor = (t: Partial<LogicalTensor> | null): boolean => Number.isSafeInteger(t?.id);
  if (Array.isArray(tensors) && tensors.every(isTensor)) return;
  const wrong = Array.isArray(tensors) ? tensors.find(t => !isTensor(t)) : tensors;
  throw new InvalidOperationError(
    label,
    `its ${what} must be an array of tensors, got ${describeValue(wrong)}`,
  );
}
