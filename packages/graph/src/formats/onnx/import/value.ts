import { elementCount, InvalidShapeError } from '@tilewise/core';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { ElementType } from './file/element-type.ts';

/** Numbers that are known while a model is read: row-major, integers exact up to 2^53. */
export interface HostTensor {
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

/** A value of the model while its graph is built: known numbers, a tensor of the graph, or both. */
export interface Value {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Computes the numbers; null if only running the graph can. */
  readonly host: (() => HostTensor) | null;
  /** The tensor of the graph; numbers become a constant when the tensor is first requested. */
  readonly tensor: () => LogicalTensor;
  /**
   * Whether the numbers are the same for all inputs of the model with the shapes that the graph is built for.
   */
  readonly isStatic: boolean;
  /**
   * Whether the numbers are weights of the model or computed from weights. They remain tensors of the graph,
   * so that the model can be trained.
   */
  readonly isWeight: boolean;
}

/** The numbers of a value, if they are the same for all inputs of the model; else null. */
export function staticNumbers({ host, isStatic }: Value): readonly number[] | null {
  return isStatic && host ? Array.from(host().values) : null;
}

/**
 * The maximum number of elements that are computed while a model is read. Shapes have few, and masks S × S.
 */
const maxNumbers = 2 ** 24;

/**
 * Computes a number for each index of a shape.
 * @throws InvalidShapeError for a negative number of elements, or more than `maxNumbers`.
 */
export function hostTensor(
  shape: readonly number[],
  at: (index: readonly number[]) => number,
): HostTensor & { readonly values: Float64Array } {
  const count = elementCount(shape);
  if (!(count >= 0 && count <= maxNumbers))
    throw new InvalidShapeError(
      'a constant',
      `of shape [${shape}] has ${count} elements; only 0 to ${maxNumbers} can be computed while a model is read`,
    );
  const values = new Float64Array(count);
  const index = shape.map(() => 0);
  for (let n = 0; n < count; n++) {
    values[n] = at(index);
    for (let d = shape.length - 1; d >= 0; d--) {
      index[d] += 1;
      if (index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return { shape, values };
}

/** Returns the element at an index. */
type Reader = (index: readonly number[]) => number;

/** Returns a reader of a tensor's elements by an index of a shape that the tensor broadcasts to. */
export function reader({ shape, values }: HostTensor): Reader {
  const strides = shape.map((extent, d) => (extent === 1 ? 0 : elementCount(shape.slice(d + 1))));
  return index => {
    const before = index.length - shape.length;
    return values[strides.reduce((at, stride, d) => at + index[before + d] * stride, 0)];
  };
}

/**
 * Returns a function that computes a tensor from the numbers of values; null if only running the graph can.
 * @param elementOf returns the element at an index, from readers of the values, which broadcast.
 */
export function folded(
  values: readonly (Value | null)[],
  shape: readonly number[],
  elementOf: (...reads: Reader[]) => Reader,
): Value['host'] {
  const hosts = values.flatMap(value => value?.host ?? []);
  if (hosts.length < values.length) return null;
  return () => hostTensor(shape, elementOf(...hosts.map(host => reader(host()))));
}
