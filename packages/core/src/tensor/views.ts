import { InvalidShapeError } from '../errors.ts';
import { contiguousStrides, elementCount, type Shape, type Strides } from './shape.ts';

/**
 * The strides with which `target` shows the elements of `shape`, broadcast along size-1 and missing leading
 * dimensions with stride 0.
 * @throws InvalidShapeError for any other target.
 */
export function expandedStrides(shape: Shape, strides: Strides, target: Shape): number[] {
  const lead = target.length - shape.length;
  if (lead < 0) {
    throw new InvalidShapeError('shape', `[${target}] has fewer dimensions than [${shape}]`);
  }
  // `map` of a typed array would store the strides in its own type.
  return Array.from(target, (n, d) => {
    const own = d < lead ? 1 : shape[d - lead];
    if (own !== n && own !== 1) {
      throw new InvalidShapeError('shape', `[${target}] is not a broadcast of [${shape}]`);
    }
    return own === n && d >= lead ? strides[d - lead] : 0;
  });
}

/**
 * The strides with which `target` shows the elements of `shape`, both in row-major order, without moving
 * them.
 * @throws InvalidShapeError if the element counts differ, or if dimensions that would merge are not
 * contiguous with each other.
 */
export function reshapedStrides(shape: Shape, strides: Strides, target: Shape): number[] {
  const count = elementCount(shape);
  if (elementCount(target) !== count) {
    throw new InvalidShapeError(
      'shape',
      `[${target}] has ${elementCount(target)} elements, but the tensor of shape [${shape}] has ${count}`,
    );
  }
  const result = contiguousStrides(target);
  if (count === 0) return result;

  // Walks both shapes together, in the smallest groups of dimensions with equal element counts.
  const old = shape.map((_, d) => d).filter(d => shape[d] !== 1);
  let oldEnd = 0;
  let newEnd = 0;
  while (oldEnd < old.length) {
    const newStart = newEnd;
    let oldSize = shape[old[oldEnd++]];
    let newSize = target[newEnd++];
    while (oldSize !== newSize) {
      if (newSize < oldSize) newSize *= target[newEnd++];
      else {
        checkInLine(shape, strides, old[oldEnd - 1], old[oldEnd], target);
        oldSize *= shape[old[oldEnd++]];
      }
    }
    let step = strides[old[oldEnd - 1]];
    for (let d = newEnd - 1; d >= newStart; d--) {
      result[d] = step;
      step *= target[d];
    }
  }
  return result;
}

function checkInLine(shape: Shape, strides: Strides, outer: number, inner: number, target: Shape): void {
  if (strides[outer] === strides[inner] * shape[inner]) return;
  throw new InvalidShapeError(
    'shape',
    `[${target}] merges dimensions ${outer} and ${inner} of [${shape}], which are not contiguous (strides [${strides}]); ` +
      'reshape a contiguous() copy',
  );
}
