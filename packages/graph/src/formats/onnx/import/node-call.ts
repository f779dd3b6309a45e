import { InvalidOperationError, UnsupportedOperationError } from '../../../errors.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { axisOf } from '../../../ir/tensor/shape.ts';
import type { Draft } from './draft.ts';
import type { ElementType } from './file/element-type.ts';
import type { AttributeRecord, AttributeValues, NodeRecord } from './file/read-model.ts';
import type { HostTensor, Value } from './value.ts';

/** An output of a node: its element type, its shape, and how its numbers or its tensor are made. */
export interface NodeResult {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** From numbers alone; absent where an operator is not computed while the model is read. */
  readonly fold?: (() => HostTensor) | null;
  /** The numbers depend on shapes alone. Otherwise they are static where those of all inputs are. */
  readonly isStatic?: boolean;
  /**
   * Makes the output from operations of the graph; absent where an operator is only computed while the model
   * is read.
   */
  readonly emit?: () => LogicalTensor;
}

/** An output that operations of the graph give. */
export const result = (
  { type, shape }: Pick<NodeResult, 'type' | 'shape'>,
  emit: () => LogicalTensor,
): NodeResult => ({ type, shape, emit });

/**
 * A node of the model whose outputs are asked for: its inputs, attributes and version, and the graph that is
 * written.
 */
export class NodeCall {
  readonly node: NodeRecord;
  /** The version of the node's operator set. */
  readonly version: number;
  readonly draft: Draft;
  readonly inputs: readonly (Value | null)[];

  /** Numbers as a tensor of the graph: a constant. */
  readonly constant: (host: HostTensor, type: ElementType) => LogicalTensor;

  constructor(
    node: NodeRecord,
    version: number,
    { draft, constant }: { readonly draft: Draft; readonly constant: NodeCall['constant'] },
    inputs: readonly (Value | null)[],
  ) {
    this.node = node;
    this.version = version;
    this.draft = draft;
    this.constant = constant;
    this.inputs = inputs;
  }

  /** This call with another input. */
  withInput(n: number, value: Value): NodeCall {
    const inputs = this.inputs.map((own, m) => (m === n ? value : own));
    return new NodeCall(this.node, this.version, this, inputs);
  }

  /** This call with another attribute. */
  withFlag(name: string, value: boolean): NodeCall {
    const attribute: AttributeRecord = { kind: 'int', value: Number(value) };
    const attributes = new Map([...this.node.attributes, [name, attribute]]);
    return new NodeCall({ ...this.node, attributes }, this.version, this, this.inputs);
  }

  /** The name of the operations that are made of the node, behind that of its module. */
  get name(): string {
    const { scope, name } = this.node;
    return scope === '' ? name : `${scope}/${name}`;
  }

  /** The node for people. */
  get label(): string {
    const { op, name, outputs } = this.node;
    return `${op} '${name || (outputs[0] ?? '')}'`;
  }

  /** @throws InvalidOperationError: the model is wrong. */
  fail(rule: string): never {
    throw new InvalidOperationError(this.label, rule);
  }

  /** @throws UnsupportedOperationError: the model may be right, but there is no form of it here. */
  refuse(reason: string): never {
    throw new UnsupportedOperationError(this.label, reason);
  }

  /** @throws InvalidOperationError without this input. */
  input(n: number): Value {
    return this.inputs[n] ?? this.fail(`needs its input ${n}`);
  }

  optional(n: number): Value | null {
    return this.inputs[n] ?? null;
  }

  has(n: number): boolean {
    return this.optional(n) !== null;
  }

  shape(n: number): readonly number[] {
    return this.input(n).shape;
  }

  /** The numbers of an input on which the shapes or the form of the results depend. */
  numbers(n: number): number[] {
    const value = this.input(n);
    if (!value.host)
      return this.refuse(
        `needs the numbers of '${value.name}' before the graph runs, which depend on other operations`,
      );
    return Array.from(value.host().values);
  }

  /** @throws InvalidOperationError for an attribute of another kind. */
  attribute<K extends keyof AttributeValues>(name: string, kind: K): AttributeValues[K] | undefined {
    const attribute = this.node.attributes.get(name);
    if (attribute && attribute.kind !== kind)
      this.fail(`attribute '${name}' must be ${kind}, got ${attribute.kind}`);
    return attribute?.value as AttributeValues[K] | undefined;
  }

  int(name: string, standard: number): number {
    return this.attribute(name, 'int') ?? standard;
  }

  float(name: string, standard: number): number {
    return this.attribute(name, 'float') ?? standard;
  }

  flag(name: string, standard: boolean): boolean {
    return this.int(name, standard ? 1 : 0) !== 0;
  }

  text(name: string, standard: string): string {
    return this.attribute(name, 'string') ?? standard;
  }

  ints(name: string): readonly number[] | undefined {
    return this.attribute(name, 'ints');
  }

  /** An axis of a tensor of this rank, counted from its start. */
  axis(axis: number, rank: number): number {
    return axisOf(axis, rank) ?? this.fail(`axis ${axis} must be in [${-rank}, ${rank - 1}]`);
  }

  /**
   * The axes that operators take as an attribute in early versions and as the second input since; undefined
   * where none are given.
   */
  axes(): readonly number[] | undefined {
    return this.has(1) ? this.numbers(1) : this.ints('axes');
  }
}

/** An operator of ONNX with one output: how the output becomes numbers or operations. */
export type SingleOperator = (call: NodeCall) => NodeResult;

/** How an operator of ONNX becomes numbers or operations: what its output is, or each of them. */
export type OnnxOperator = (call: NodeCall) => NodeResult | readonly NodeResult[];
