/** The value of an attribute. */
export type AttributeValue = boolean | number | string | readonly number[];

/** Attributes by name. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** The attribute types, by oneDNN's names, and the type of the values of each. */
export interface AttributeTypes {
  bool: boolean;
  s64: number;
  's64[]': readonly number[];
  f32: number;
  'f32[]': readonly number[];
  string: string;
}

/** The name of an attribute's type. */
export type AttributeType = keyof AttributeTypes;

/** An attribute of an operation. */
export interface AttributeSchema {
  /** The type of the value, by oneDNN's name. */
  readonly type: AttributeType;
  /** The value if the attribute is not given. Without a default, the attribute is then absent. */
  readonly default?: AttributeValue;
  /** Whether the attribute must be given. */
  readonly required?: boolean;
  /** The only values allowed. */
  readonly among?: readonly AttributeValue[];
}

/** A number attribute. @throws TypeError for any other value, which the schema check has ruled out. */
export function numberOf(attributes: Attributes, name: string): number {
  const value = attributes[name];
  if (typeof value !== 'number') throw new TypeError(`attribute '${name}' is not a number`);
  return value;
}

/** A list attribute; empty when absent. @throws TypeError like `numberOf`. */
export function numbersOf(attributes: Attributes, name: string): readonly number[] {
  const value = attributes[name] ?? [];
  if (!Array.isArray(value)) throw new TypeError(`attribute '${name}' is not a list`);
  return value;
}

/** A boolean attribute; false when absent. */
export function flagOf(attributes: Attributes, name: string): boolean {
  return attributes[name] === true;
}
