import { InvalidShapeError } from '@tilewise/core';
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
  const count = shape.reduce((n, extent) => n * extent, 1);
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
      index[d] = (index[d] ?? 0) + 1;
      if ((index[d] ?? 0) < (shape[d] ?? 0)) break;
      index[d] = 0;
    }
  }
  return { shape, values };
}

/** Strides of a dense tensor as it is broadcast to a shape: 0 along dimensions that it repeats. */
function broadcastStrides(from: readonly number[], to: readonly number[]): number[] {
  const strides: number[] = [];
  let stride = 1;
  for (let d = to.length - 1; d >= 0; d--) {
    const own = from[d - (to.length - from.length)] ?? 1;
    strides[d] = own === 1 ? 0 : stride;
    stride *= own;
  }
  return strides;
}

/** The element of a tensor at an index of the shape that it is broadcast to. */
export function reader(
  { shape, values }: HostTensor,
  to: readonly number[],
): (index: readonly number[]) => number {
  const strides = broadcastStrides(shape, to);
  return index => values[index.reduce((at, i, d) => at + i * (strides[d] ?? 0), 0)] ?? Number.NaN;
}
