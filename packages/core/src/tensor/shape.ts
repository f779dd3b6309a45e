/** The size of each dimension, outermost first. */
export type Shape = readonly number[];
/** For each dimension, the elements from one index to the next. */
export type Strides = readonly number[];

/** Product of the extents. */
export function elementCount(shape: Shape): number {
  let count = 1;
  for (const extent of shape) count *= extent;
  return count;
}

/** Whether two shapes have the same extents. */
export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((n, d) => n === b[d]);
}

/** Row-major strides without gaps. */
export function contiguousStrides(shape: Shape): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

/** The offset of the last element from the first, for a shape without zero extents. */
export function maxOffset(shape: Shape, strides: Strides): number {
  let at = 0;
  for (let d = 0; d < shape.length; d++) at += (shape[d] - 1) * strides[d];
  return at;
}

/** A shape with its strides. */
export interface StridedShape {
  /** The extents. */
  readonly shape: Shape;
  /** In elements. */
  readonly strides: Strides;
}

/** The elements from the first to the last of a tensor, gaps included; 0 for a tensor without elements. */
export function elementsSpanned({ shape, strides }: StridedShape): number {
  return shape.includes(0) ? 0 : maxOffset(shape, strides) + 1;
}

/**
 * Whether two elements may have the same offset: some dimension has a stride smaller than the span of the
 * dimensions inside it.
 */
export function isOverlapping({ shape, strides }: StridedShape): boolean {
  const steps = shape.map((n, d) => [strides[d], n - 1]).filter(([, count]) => count > 0);
  let span = 1;
  const isInside = ([stride, count]: readonly number[]): boolean => {
    const isSmaller = stride < span;
    span += count * stride;
    return isSmaller;
  };
  return !shape.includes(0) && steps.sort(([a], [b]) => a - b).some(isInside);
}

/**
 * Whether these strides are row-major without gaps. Strides of size-1 dimensions do not matter, and if there
 * are no elements, no stride does.
 */
export function isContiguous(shape: Shape, strides: Strides): boolean {
  let step = 1;
  let isDense = true;
  for (let d = shape.length - 1; d >= 0; d--) {
    isDense &&= shape[d] === 1 || strides[d] === step;
    step *= shape[d];
  }
  return isDense || step === 0;
}
