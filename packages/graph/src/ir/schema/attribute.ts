import type { LogicalTensor } from '../tensor/logical-tensor.ts';

/** The value of an attribute. */
export type AttributeValue = boolean | number | string | readonly number[];

/** Attributes by name. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Types of attributes, by oneDNN's names. */
export type AttributeType = 'bool' | 's64' | 's64[]' | 'f32' | 'f32[]' | 'string';

/** An attribute of an operation. */
export interface AttributeSchema {
  readonly type: AttributeType;
  /** Without a default it is left out unless given, or `required`. */
  readonly default?: AttributeValue;
  readonly required?: boolean;
  /** The only values allowed. */
  readonly among?: readonly AttributeValue[];
}

/** An operation's tensors and attributes, defaults filled in. */
export interface OperationCall {
  readonly attributes: Attributes;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
}

/** An attribute that the schema says is a number. */
export function numberOf(attributes: Attributes, name: string): number {
  const value = attributes[name];
  if (typeof value !== 'number') throw new TypeError(`attribute '${name}' is no number`);
  return value;
}

/** An attribute that the schema says is a list of numbers; empty when absent. */
export function numbersOf(attributes: Attributes, name: string): readonly number[] {
  const value = attributes[name] ?? [];
  if (!Array.isArray(value)) throw new TypeError(`attribute '${name}' is no list`);
  return value;
}

/** An attribute that the schema says is a truth value. */
export function flagOf(attributes: Attributes, name: string): boolean {
  return attributes[name] === true;
}
