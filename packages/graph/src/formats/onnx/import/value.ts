import { elementCount, InvalidShapeError } from '@tilewise/core';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { ElementType } from './file/element-type.ts';

/** Numbers that are known while a model is read: row-major, integers exact up to 2^53. */
export interface HostTensor {
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

/** Whether all numbers are the same. This is a loop, because a table may have a billion numbers. */
export function isUniform(values: ArrayLike<number>): boolean {
  for (let n = 1; n < values.length; n++) if (!Object.is(values[n], values[0])) return false;
  return true;
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
export function staticNumbers({ host, isStatic }: Value): Float64Array | null {
  return isStatic && host ? new Float64Array(host().values) : null;
}

/**
 * The maximum number of elements that are computed while a model is read. Shapes have few, and masks S × S.
 */
const maxNumbers = 2 ** 24;

/**
 * Zeros, as many as a shape has elements.
 * @throws InvalidShapeError for a negative number of elements, or more than `maxNumbers`.
 */
function zeros(shape: readonly number[]): Float64Array {
  const count = elementCount(shape);
  if (!(count >= 0 && count <= maxNumbers))
    throw new InvalidShapeError(
      'a constant',
      `of shape [${shape}] has ${count} elements; only 0 to ${maxNumbers} can be computed while a model is read`,
    );
  return new Float64Array(count);
}

/**
 * Visits all indices of a shape with `count` elements in row-major order. The index changes after a visit.
 */
function forEachIndex(
  shape: readonly number[],
  count: number,
  visit: (index: readonly number[], n: number) => void,
): void {
  const index = shape.map(() => 0);
  for (let n = 0; n < count; n++) {
    visit(index, n);
    for (let d = shape.length - 1; d >= 0; d--) {
      index[d] += 1;
      if (index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

/**
 * Computes a number for each index of a shape.
 * @param at must not keep the index, which changes.
 * @throws InvalidShapeError for a negative number of elements, or more than `maxNumbers`.
 */
export function hostTensor(
  shape: readonly number[],
  at: (index: readonly number[]) => number,
): HostTensor & { readonly values: Float64Array } {
  const values = zeros(shape);
  forEachIndex(shape, values.length, (index, n) => {
    values[n] = at(index);
  });
  return { shape, values };
}

/** Returns the element at an index. */
type Reader = (index: readonly number[]) => number;

/** Returns a function from an index of a shape that a tensor broadcasts to, to the place of the element. */
function placeIn({ shape }: HostTensor): (index: readonly number[]) => number {
  const strides = shape.map((extent, d) => (extent === 1 ? 0 : elementCount(shape.slice(d + 1))));
  return index => {
    const before = index.length - strides.length;
    let place = 0;
    for (let d = 0; d < strides.length; d++) place += strides[d] * index[before + d];
    return place;
  };
}

/** Returns a reader of a tensor's elements by an index of a shape that the tensor broadcasts to. */
export function reader(tensor: HostTensor): Reader {
  const place = placeIn(tensor);
  return index => tensor.values[place(index)];
}

/** Returns the functions that compute the numbers of values; null if only running the graph can. */
function hostsOf(values: readonly (Value | null)[]): readonly (() => HostTensor)[] | null {
  const hosts = values.flatMap(value => value?.host ?? []);
  return hosts.length < values.length ? null : hosts;
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
  const hosts = hostsOf(values);
  return hosts && (() => hostTensor(shape, elementOf(...hosts.map(host => reader(host())))));
}

/**
 * Like `folded`, for elements that follow from the elements of the values at the same position. It goes
 * through whole rows, which is many times as fast: masks have S × S elements.
 * @param apply must not keep the numbers, which change.
 */
export function foldedElements(
  values: readonly (Value | null)[],
  shape: readonly number[],
  apply: (numbers: readonly number[]) => number,
): Value['host'] {
  const hosts = hostsOf(values);
  return (
    hosts &&
    (() => ({
      shape,
      values: elementsOf(
        hosts.map(host => host()),
        shape,
        apply,
      ),
    }))
  );
}

function elementsOf(
  operands: readonly HostTensor[],
  shape: readonly number[],
  apply: (numbers: readonly number[]) => number,
): Float64Array {
  const elements = zeros(shape);
  const size = shape.at(-1) ?? 1;
  const places = operands.map(placeIn);
  const steps = operands.map(operand => Number((operand.shape.at(-1) ?? 1) !== 1));
  const numbers = operands.map(() => 0);
  forEachIndex(shape.slice(0, -1), elements.length / (size || 1), (index, row) => {
    const starts = places.map(place => place([...index, 0]));
    for (let i = 0; i < size; i++) {
      for (let m = 0; m < operands.length; m++) numbers[m] = operands[m].values[starts[m] + i * steps[m]];
      elements[row * size + i] = apply(numbers);
    }
  });
  return elements;
}
