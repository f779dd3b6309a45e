import { collapseDimensions } from './collapse-dimensions.ts';
import type { TypedArray } from './dtype/dtype.ts';
import type { Shape, Strides } from './shape.ts';

/** Storage whose element at an index of a shape is at `offset + Σ index[d]·strides[d]`. */
export interface StridedArray {
  readonly data: TypedArray;
  readonly offset: number;
  readonly strides: Strides;
}

/** Copies every element of `shape` from one storage to another. */
export function copyStrided(shape: Shape, from: StridedArray, to: StridedArray): void {
  if (shape.includes(0)) return;
  const { shape: extents, strides } = collapseDimensions(shape, [from.strides, to.strides]);
  const [fromSteps, toSteps] = strides;
  const [source, target] = [from.data, to.data];
  const run = (d: number, fromAt: number, toAt: number): void => {
    const extent = extents[d];
    const fromStep = fromSteps[d];
    const toStep = toSteps[d];
    if (d < extents.length - 1)
      for (let n = 0; n < extent; n++) run(d + 1, fromAt + n * fromStep, toAt + n * toStep);
    // A call of `set` costs more than copying a few elements.
    else if (fromStep === 1 && toStep === 1 && extent >= 16)
      target.set(source.subarray(fromAt, fromAt + extent), toAt);
    else for (let n = 0; n < extent; n++) target[toAt + n * toStep] = source[fromAt + n * fromStep];
  };
  run(0, from.offset, to.offset);
}
