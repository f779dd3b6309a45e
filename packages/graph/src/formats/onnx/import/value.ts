import { elementCount, InvalidShapeError } from '@tilewise/core';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { ElementType } from './file/element-type.ts';

/** Numbers that are known while a model is read: row-major, integers exact up to 2^53. */
export interface HostTensor {
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

/** A value of the model while a graph is made of it: known numbers, a tensor of the graph, or both. */
export interface Value {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** The numbers; null where only running the graph gives them. */
  readonly host: (() => HostTensor) | null;
  /** The tensor of the graph; numbers become a constant when they are first asked for as one. */
  readonly tensor: () => LogicalTensor;
  /**
   * Whether the numbers are the same for all inputs of the model (of the shapes that the graph is made for).
   */
  readonly isStatic: boolean;
  /**
   * Whether the numbers are, or come from, weights of the model, by which it can be trained: they stay
   * tensors of the graph.
   */
  readonly isWeight: boolean;
}

/** The numbers of a value, where they are the same for all inputs of the model; null else. */
export function staticNumbers({ host, isStatic }: Value): readonly number[] | null {
  return isStatic && host ? Array.from(host().values) : null;
}

/** The most numbers that are computed while a model is read: shapes have few, masks S × S. */
const mostNumbers = 2 ** 24;

/**
 * One number for each element of a shape, by its index.
 * @throws InvalidShapeError for more numbers than are computed while a model is read.
 */
export function hostTensor(shape: readonly number[], at: (index: readonly number[]) => number): HostTensor {
  const count = elementCount(shape);
  if (count > mostNumbers)
    throw new InvalidShapeError(
      'ONNX file:',
      `a constant of shape [${shape}] has ${count} elements, more than the ${mostNumbers} that are computed while a model is read`,
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

/** An element by its index. */
type Reader = (index: readonly number[]) => number;

/** The element of a tensor at an index of a shape that the tensor is broadcast to. */
export function reader({ shape, values }: HostTensor): Reader {
  const strides = shape.map((extent, d) => (extent === 1 ? 0 : elementCount(shape.slice(d + 1))));
  return index => {
    const before = index.length - shape.length;
    return values[strides.reduce((at, stride, d) => at + index[before + d] * stride, 0)];
  };
}

/**
 * How a tensor is computed from the numbers of values; null where only running the graph gives them.
 * @param elementOf the element at an index, from readers of the values, which are broadcast.
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
