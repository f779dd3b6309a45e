import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
} from '@tilewise/core';
import { InvalidGraphError, InvalidOperationError } from '../errors.ts';
import { type Annotation, describeNode, type GraphNode } from './node.ts';
import { checkOutputs } from './outputs.ts';
import type { Attributes } from './schema/attribute.ts';
import { checkOperation } from './schema/check.ts';
import type { Operation } from './schema/operation.ts';
import { type GraphDType, isGraphDType } from './tensor/dtype.ts';
import {
  type LogicalShape,
  type LogicalTensor,
  type TensorProperty,
  UNKNOWN,
} from './tensor/logical-tensor.ts';
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

/** An operation that says everything itself. */
export interface NodeDescription {
  readonly kind: string;
  readonly given: Attributes;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
  readonly id: number;
  readonly name: string;
  readonly annotations?: Readonly<Record<string, Annotation>>;
}

/** What operations are written into. */
export interface GraphWriter {
  readonly nodes: readonly GraphNode[];
  tensor(options: TensorOptions): LogicalTensor;
  op(kind: string, options: OperationOptions): GraphNode;
}

/** A graph of operations of a table while it is built. */
export class GraphBuilder implements GraphWriter {
  readonly #operationOf: (kind: string) => Operation | undefined;
  readonly #nodes: GraphNode[] = [];
  readonly #ids = new Set<number>();
  readonly #described = new Map<number, LogicalTensor>();
  #nextTensor = 0;
  #nextNode = 0;
  #topology: Topology | undefined;

  /**
   * @param operationOf the operation of a kind; undefined for a kind that the table does not have.
   * @param others tensors of another graph that this one goes with: they keep their ids.
   */
  constructor(operationOf: (kind: string) => Operation | undefined, others: Iterable<LogicalTensor> = []) {
    this.#operationOf = operationOf;
    for (const t of others) this.#describe(t);
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
  add(node: NodeDescription): GraphNode {
    const label = describeNode(node);
    if (this.#topology) throw new InvalidGraphError(`${label} cannot be added: the graph is finalized`);
    if (!Number.isSafeInteger(node.id) || node.id < 0) {
      throw new InvalidOperationError(label, `its id must be an integer ≥ 0`);
    }
    if (this.#ids.has(node.id))
      throw new InvalidGraphError(`${label}: the graph has an operation ${node.id} already`);
    const operation = this.#operationOf(node.kind);
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
