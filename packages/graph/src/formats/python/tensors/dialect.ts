import type { DType } from '@tilewise/core';

/** A function of an element that every library has. */
export type ElementFunction =
  | 'abs'
  | 'cos'
  | 'erf'
  | 'exp'
  | 'log'
  | 'round'
  | 'sigmoid'
  | 'sin'
  | 'sqrt'
  | 'tanh';

/**
 * The Python that differs between array libraries. Operands and results are expressions of Python; operands
 * bind as tightly as names.
 */
export interface Dialect {
  /** The library's name in errors and comments. */
  readonly library: string;
  /** The module of its functions: `torch` or `jnp`. */
  readonly module: string;
  element(name: ElementFunction, x: string): string;
  dtype(dtype: DType): string;
  cast(x: string, dtype: DType): string;
  /** A tensor of one number; `shape` is a tuple of Python. */
  full(shape: string, number: string): string;
  /** A number as a tensor without axes. */
  number(code: string): string;
  /** A tensor of numbers, on the device of `like` or of the model's place. */
  list(numbers: readonly string[], like?: string): string;
  range(count: string): string;
  /** A scalar of the graph, as seeds and probabilities are read. */
  scalar(x: string, type: 'int' | 'float'): string;
  expand(x: string, shape: string): string;
  permute(x: string, order: readonly number[]): string;
  /** `count` elements from `first` on along an axis. */
  narrow(x: string, axis: number, first: number, count: number): string;
  /** Over axes, a number or a tuple of Python. */
  reduce(op: 'sum' | 'max' | 'min', x: string, axes: string, keeps: boolean): string;
  softmax(x: string, axis: number, log: boolean): string;
  parameter(name: string): string;
  constant(name: string): string;
  /** An attention with another scale than its description has. */
  rescaled(call: string, scale: string): string;
}
