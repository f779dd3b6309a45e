import { InvalidShapeError } from '@tilewise/core';
import { InvalidOperationError, UnsupportedOperationError } from '../../../errors.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { axisOf, namingOperation } from '../../../ir/tensor/shape.ts';
import type { Draft } from './draft.ts';
import type { ElementType } from './file/element-type.ts';
import type { AttributeRecord, AttributeValues, NodeRecord } from './file/read-model.ts';
import type { HostTensor, Value } from './value.ts';

/** An output of a node: its element type and shape, and functions that compute its numbers or its tensor. */
export interface NodeResult {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /**
   * Computes the output from numbers only; absent if the operator is never computed while the model is read.
   */
  readonly fold?: (() => HostTensor) | null;
  /** Whether the numbers depend only on shapes. Default: whether the numbers of all inputs do. */
  readonly isStatic?: boolean;
  /**
   * Writes the output as operations of the graph; absent if the operator is only computed while the model is
   * read.
   */
  readonly emit?: () => LogicalTensor;
}

/** An output that operations of the graph compute. */
export const result = (
  { type, shape }: Pick<NodeResult, 'type' | 'shape'>,
  emit: () => LogicalTensor,
): NodeResult => ({ type, shape, emit });

/**
 * A node of the model whose outputs are requested: its inputs, attributes and version, and the draft to write
 * to.
 */
export class NodeCall {
  readonly node: NodeRecord;
  /** The version of the node's operator set. */
  readonly version: number;
  readonly draft: Draft;
  readonly inputs: readonly (Value | null)[];

  /** Adds numbers to the graph as a constant. */
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

  /** The name of the node's operations: the module's name, then the node's. */
  get name(): string {
    const { scope, name } = this.node;
    return scope === '' ? name : `${scope}/${name}`;
  }

  /** The node as error messages show it. */
  get label(): string {
    const { op, name, outputs } = this.node;
    return `${op} '${name || (outputs[0] ?? '')}'`;
  }

  /** @throws InvalidOperationError, because the model is invalid. */
  fail(rule: string): never {
    throw new InvalidOperationError(this.label, rule);
  }

  /** @throws UnsupportedOperationError, because the model may be valid but is not supported. */
  refuse(reason: string): never {
    throw new UnsupportedOperationError(this.label, reason);
  }

  /** @throws InvalidOperationError if the input is missing. */
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

  /** The numbers of an input that determine the shapes or the form of the results. */
  numbers(n: number): number[] {
    return Array.from(this.elements(n));
  }

  /** The numbers that `numbers` returns, but not copied, for inputs with many elements. */
  elements(n: number): ArrayLike<number> {
    const value = this.input(n);
    if (!value.host)
      return this.refuse(
        `needs the numbers of '${value.name}' before the graph runs, which depend on other operations`,
      );
    return value.host().values;
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

  /** An axis of a tensor with rank `rank`, counted from the start. */
  axis(axis: number, rank: number): number {
    return axisOf(axis, rank) ?? this.fail(`axis ${axis} must be in [${-rank}, ${rank - 1}]`);
  }

  /**
   * The axes, which are an attribute in early versions and the second input in later ones; undefined if none
   * are given.
   */
  axes(): readonly number[] | undefined {
    return this.has(1) ? this.numbers(1) : this.ints('axes');
  }
}

/** Translates a part of a node. An error of shapes names the node, as other errors do. */
export function named<T>(call: NodeCall, translate: () => T): T {
  try {
    return namingOperation(call.node.op, translate);
  } catch (error) {
    if (error instanceof InvalidShapeError) return call.fail(error.message);
    throw error;
  }
}

/** Translates an ONNX operator with one output to numbers or operations. */
export type SingleOperator = (call: NodeCall) => NodeResult;

/** Translates an ONNX operator to numbers or operations; returns its output, or all its outputs. */
export type OnnxOperator = (call: NodeCall) => NodeResult | readonly NodeResult[];
