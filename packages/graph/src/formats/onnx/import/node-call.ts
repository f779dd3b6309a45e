import { InvalidOperationError, UnsupportedOperationError } from '../../../errors.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { Draft } from './draft.ts';
import type { ElementType } from './file/element-type.ts';
import type { AttributeRecord, GraphRecord, NodeRecord } from './file/read-model.ts';
import type { TensorRecord } from './file/tensor-record.ts';
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

type NumberKind = 'int' | 'float';

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
    return (this.inputs[n] ?? null) !== null;
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

  #attribute(name: string, ...kinds: readonly AttributeRecord['kind'][]): AttributeRecord | undefined {
    const attribute = this.node.attributes.get(name);
    if (attribute && !kinds.includes(attribute.kind))
      this.fail(`attribute '${name}' must be ${kinds.join(' or ')}, got ${attribute.kind}`);
    return attribute;
  }

  #number(name: string, kind: NumberKind): number | undefined {
    const value = this.#attribute(name, kind)?.value;
    return value === undefined ? undefined : Number(value);
  }

  int(name: string, standard: number): number {
    return this.#number(name, 'int') ?? standard;
  }

  float(name: string, standard: number): number {
    return this.#number(name, 'float') ?? standard;
  }

  /** A number without a default. */
  optionalNumber(name: string, kind: NumberKind): number | null {
    return this.#number(name, kind) ?? null;
  }

  flag(name: string, standard: boolean): boolean {
    return this.int(name, standard ? 1 : 0) !== 0;
  }

  text(name: string, standard: string): string {
    const value = this.#attribute(name, 'string')?.value;
    return value === undefined ? standard : String(value);
  }

  ints(name: string): readonly number[] | null {
    const attribute = this.#attribute(name, 'ints');
    return attribute?.kind === 'ints' ? attribute.value : null;
  }

  floats(name: string): readonly number[] | null {
    const attribute = this.#attribute(name, 'floats');
    return attribute?.kind === 'floats' ? attribute.value : null;
  }

  tensorAttribute(name: string): TensorRecord | null {
    const attribute = this.#attribute(name, 'tensor');
    return attribute?.kind === 'tensor' ? attribute.value : null;
  }

  graphAttribute(name: string): GraphRecord {
    const attribute = this.#attribute(name, 'graph');
    return attribute?.kind === 'graph' ? attribute.value : this.fail(`needs the graph '${name}'`);
  }

  /** An axis of a tensor of this rank, counted from its start. */
  axis(axis: number, rank: number): number {
    if (!Number.isInteger(axis) || axis < -rank || axis >= rank)
      this.fail(`axis ${axis} must be in [${-rank}, ${rank - 1}]`);
    return axis < 0 ? axis + rank : axis;
  }

  /**
   * The axes that operators take as an attribute in early versions and as the second input since; null where
   * none are given.
   */
  axes(): number[] | null {
    if (this.has(1)) return this.numbers(1);
    const given = this.ints('axes');
    return given ? [...given] : null;
  }
}

/** An operator of ONNX with one output: how the output becomes numbers or operations. */
export type SingleOperator = (call: NodeCall) => NodeResult;

/** How an operator of ONNX becomes numbers or operations: what its output is, or each of them. */
export type OnnxOperator = (call: NodeCall) => NodeResult | readonly NodeResult[];
