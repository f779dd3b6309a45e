import type { DType } from '@tilewise/core';

/** An elementwise function that every library has. */
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
 * The Python that differs between array libraries. Operands and results are Python expressions; operands bind
 * as tightly as names.
 */
export interface Dialect {
  /** The library's name in errors and comments. */
  readonly library: string;
  /** The dropout schemes whose masks the program draws. */
  readonly dropoutSchemes: readonly string[];
  /** The module with the library's functions: `torch` or `jnp`. */
  readonly module: string;
  element(name: ElementFunction, x: string): string;
  dtype(dtype: DType): string;
  cast(x: string, dtype: DType): string;
  /** A tensor filled with one number; `shape` is a Python tuple. */
  full(shape: string, number: string): string;
  /** A number as a tensor of rank 0. */
  number(code: string): string;
  /** A tensor of numbers, on the device of `like` or of the model's place. */
  list(numbers: readonly string[], like?: string): string;
  range(count: string): string;
  /** Reads a scalar of the graph, such as a seed or a probability. */
  scalar(x: string, type: 'int' | 'float'): string;
  expand(x: string, shape: string): string;
  permute(x: string, order: readonly number[]): string;
  /** `count` elements from `first` on along an axis. */
  narrow(x: string, axis: number, first: number, count: number): string;
  /** Reduces over axes, which are a number or a Python tuple. */
  reduce(op: 'sum' | 'max' | 'min', x: string, axes: string, keeps: boolean): string;
  softmax(x: string, axis: number, log: boolean): string;
  parameter(name: string): string;
  constant(name: string): string;
  /** Attention with a scale that replaces that of its description. */
  rescaled(call: string, scale: string): string;
}
