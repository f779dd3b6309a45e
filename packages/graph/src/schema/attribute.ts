import type { Attributes } from './operation.ts';

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
