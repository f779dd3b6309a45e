import type { TypedArray } from './dtype/dtype.ts';
import type { Shape, Strides } from './shape.ts';

/** Storage with a place for every index of a shape: `offset + Σ index[d]·strides[d]`. */
export interface StridedArray {
  readonly data: TypedArray;
  readonly offset: number;
  readonly strides: Strides;
}

interface Loop {
  readonly extent: number;
  readonly from: number;
  readonly to: number;
}

/** Copies every element of `shape` from its place in one storage to its place in another. */
export function copyStrided(shape: Shape, from: StridedArray, to: StridedArray): void {
  if (shape.includes(0)) return;
  const loops = fuseLoops(shape, from.strides, to.strides);
  const inner = loops.pop() ?? { extent: 1, from: 1, to: 1 };

  const run = (depth: number, fromAt: number, toAt: number): void => {
    if (depth === loops.length) {
      copyLine(inner, from.data, fromAt, to.data, toAt);
      return;
    }
    const loop = loops[depth];
    for (let n = 0; n < loop.extent; n++) run(depth + 1, fromAt + n * loop.from, toAt + n * loop.to);
  };
  run(0, from.offset, to.offset);
}

/**
 * One loop per dimension, outermost first; size-1 dimensions have none, and those that lie in line share one.
 */
function fuseLoops(shape: Shape, from: Strides, to: Strides): Loop[] {
  const loops: Loop[] = [];
  for (let d = 0; d < shape.length; d++) {
    if (shape[d] === 1) continue;
    const loop = { extent: shape[d], from: from[d], to: to[d] };
    const outer = loops.at(-1);
    if (outer && outer.from === loop.from * loop.extent && outer.to === loop.to * loop.extent) {
      loops[loops.length - 1] = { ...loop, extent: outer.extent * loop.extent };
    } else {
      loops.push(loop);
    }
  }
  return loops;
}

function copyLine(line: Loop, from: TypedArray, fromAt: number, to: TypedArray, toAt: number): void {
  const { extent, from: fromStep, to: toStep } = line;
  // A call of `set` costs more than copying a few elements.
  if (fromStep === 1 && toStep === 1 && extent >= 16) {
    to.set(from.subarray(fromAt, fromAt + extent), toAt);
    return;
  }
  for (let n = 0; n < extent; n++) to[toAt + n * toStep] = from[fromAt + n * fromStep];
}
