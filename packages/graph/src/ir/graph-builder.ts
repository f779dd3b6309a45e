import { checkObject, describeValue } from '@tilewise/core';
import { InvalidGraphError, InvalidOperationError } from '../errors.ts';
import { checkNames, didYouMean } from './check-names.ts';
import { type Annotation, describeNode, type GraphNode } from './node.ts';
import type { Attributes } from './schema/attribute.ts';
import { checkOperation } from './schema/check.ts';
import { omitUndefined } from './schema/omit-undefined.ts';
import type { Operation } from './schema/operation.ts';
import { checkTensor } from './tensor/check-tensor.ts';
import type { GraphDType } from './tensor/dtype.ts';
import type { LogicalShape, LogicalTensor, TensorProperty } from './tensor/logical-tensor.ts';
import { checkOutputs, connect, type Topology } from './topology.ts';

/** The description of a tensor. `shape` may contain `UNKNOWN`, or be null when the rank is unknown too. */
export interface TensorOptions {
  /** Default: one more than the largest id so far. */
  readonly id?: number | undefined;
  /** The name in errors and exports. */
  readonly name?: string | undefined;
  /** The dtype of the elements. */
  readonly dtype: GraphDType;
  /** The extents, outermost first. Default: null. */
  readonly shape?: LogicalShape | undefined;
  /** Strides in elements. Default: contiguous in row-major order. */
  readonly strides?: readonly number[] | undefined;
  /** The role of the tensor. Default: `undef`. */
  readonly property?: TensorProperty | undefined;
}

const tensorOptionNames = ['id', 'name', 'dtype', 'shape', 'strides', 'property'];

/** An operation to add, of a kind that the TypeScript compiler does not know. */
export interface NodeDescription {
  readonly kind: string;
  readonly attrs?: Attributes | undefined;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
  /** Default: one more than the largest id so far. */
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly annotations?: Readonly<Record<string, Annotation>> | undefined;
}

/** Adds operations and creates tensors: a graph, or a function that is being traced. */
export interface GraphWriter {
  readonly nodes: readonly GraphNode[];
  tensor(options: TensorOptions): LogicalTensor;
  add(node: NodeDescription): GraphNode;
}

/** A graph under construction, from the operations of a table. */
export class GraphBuilder implements GraphWriter {
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #nodes: GraphNode[] = [];
  readonly #nodeIds = new IdSource();
  readonly #tensorIds = new IdSource();
  readonly #described = new Map<number, LogicalTensor>();
  #topology: Topology | undefined;

  /**
   * @param operations the operations of the table by kind.
   * @param others tensors of another graph that this graph also uses; they keep their ids.
   */
  constructor(operations: ReadonlyMap<string, Operation>, others: Iterable<LogicalTensor> = []) {
    this.#operations = operations;
    for (const t of others) this.#describe(t);
  }

  /** The operations, in the order in which they were added. */
  get nodes(): readonly GraphNode[] {
    return this.#nodes;
  }

  /** All tensors that the graph has described, including those that no operation uses. */
  get described(): Iterable<LogicalTensor> {
    return this.#described.values();
  }

  /** Whether `finalize` has connected the operations, so that none can be added. */
  get isFinalized(): boolean {
    return this.#topology !== undefined;
  }

  /**
   * How the operations are connected.
   * @throws InvalidGraphError before `finalize`.
   */
  get topology(): Topology {
    if (this.#topology) return this.#topology;
    throw new InvalidGraphError('the graph must be finalized first');
  }

  /** The tensors that an operation reads and none produces. */
  get inputs(): readonly LogicalTensor[] {
    return this.topology.inputs;
  }

  /** The tensors that an operation produces, and that an `End` reads or nothing reads. */
  get outputs(): readonly LogicalTensor[] {
    return this.topology.outputs;
  }

  /**
   * Describes a logical tensor. Two descriptions with the same id are the same tensor, and must be equal.
   * @throws InvalidDTypeError, InvalidShapeError or InvalidArgumentError for an invalid description.
   */
  tensor(options: TensorOptions): LogicalTensor {
    checkNames('options', options, tensorOptionNames);
    const { id = this.#tensorIds.next(), name, dtype, shape = null, strides = null } = options;
    const { property = 'undef' } = options;
    const tensor = {
      ...{ id, ...(name !== undefined && { name }), dtype },
      ...({ shape: copied(shape), strides: copied(strides), layout: 'strided', property } as const),
    };
    checkTensor('', tensor);
    return this.#describe(tensor);
  }

  /**
   * Adds an operation of any kind.
   * @throws InvalidOperationError for an operation that breaks its schema; InvalidShapeError,
   * InvalidDTypeError or InvalidArgumentError for an invalid tensor or option; InvalidGraphError when the
   * graph is already finalized, or for an id that another operation has.
   */
  add(node: NodeDescription): GraphNode {
    checkObject('options', node);
    const {
      kind,
      attrs = {},
      inputs,
      outputs,
      id = this.#nodeIds.next(),
      name = '',
      annotations = {},
    } = node;
    const label = describeNode({ kind, id, name });
    if (this.#topology) throw new InvalidGraphError(`${label} cannot be added: the graph is finalized`);
    if (!Number.isSafeInteger(id) || id < 0)
      throw new InvalidOperationError(label, 'its id must be an integer in [0, 2^53)');
    if (this.#nodeIds.has(id))
      throw new InvalidGraphError(`${label}: the graph already has an operation ${id}`);
    const operation = this.#operations.get(kind);
    if (!operation) {
      const hint = didYouMean(String(kind), [...this.#operations.keys()]);
      throw new InvalidOperationError(label, `there is no operation of this kind${hint}`);
    }
    checkObject('attrs', attrs);
    this.#checkTensors(label, 'inputs', inputs);
    this.#checkTensors(label, 'outputs', outputs);
    const attributes = checkOperation(label, operation, attrs, inputs, outputs);
    const added = {
      id,
      name,
      kind,
      operation,
      given: omitUndefined(attrs),
      attributes,
      inputs,
      outputs,
      annotations,
    };
    this.#nodes.push(added);
    this.#nodeIds.add(id);
    for (const t of [...inputs, ...outputs]) this.#describe(t);
    return added;
  }

  #checkTensors(label: string, argument: 'inputs' | 'outputs', tensors: readonly LogicalTensor[]): void {
    const isTensor = (t: unknown): boolean => typeof t === 'object' && t !== null && 'id' in t;
    const wrong: readonly unknown[] = Array.isArray(tensors) ? tensors.filter(t => !isTensor(t)) : [tensors];
    if (wrong.length > 0) {
      const rule = `its ${argument} must be an array of tensors, got ${describeValue(wrong[0])}`;
      throw new InvalidOperationError(label, rule);
    }
    for (const t of tensors)
      if (this.#described.get(t.id) !== t) checkTensor(`${label}: tensor ${t.id}: `, t);
  }

  #describe(tensor: LogicalTensor): LogicalTensor {
    this.#described.set(tensor.id, tensor);
    this.#tensorIds.add(tensor.id);
    return tensor;
  }

  /**
   * Connects the operations; nothing can be added afterwards. Shapes may be given as late as `compile` or
   * `run`, so those check whether shapes fit each other; their InvalidShapeError names the operation and its
   * tensors.
   * @param options.outputs all results of the graph. Default: every tensor that is produced and not read.
   * @throws InvalidGraphError for conflicting descriptions of a tensor, two producers of a tensor, a cycle,
   * or results other than `outputs`; after such an error the graph can still be changed.
   */
  finalize(options: { readonly outputs?: readonly LogicalTensor[] | undefined } = {}): this {
    checkNames('options', options, ['outputs']);
    const topology = this.#topology ?? connect(this.#nodes, this.#described);
    if (options.outputs) checkOutputs(topology, options.outputs);
    this.#topology = topology;
    return this;
  }
}

function copied<T>(list: T): T {
  return Array.isArray(list) ? ([...list] as T) : list;
}

/** Tracks the ids in use, and hands out unused ones. */
class IdSource {
  readonly #used = new Set<number>();
  #next = 0;

  has(id: number): boolean {
    return this.#used.has(id);
  }

  add(id: number): void {
    this.#used.add(id);
    this.#next = Math.max(this.#next, id + 1);
  }

  /** One more than the largest id, or the smallest unused id if the largest id is the last safe integer. */
  next(): number {
    let id = Number.isSafeInteger(this.#next) ? this.#next : 0;
    while (this.#used.has(id)) id++;
    return id;
  }
}
