import type { Shape, Strides, TensorDesc } from '@tilewise/core';

/** The shape, strides and offset of a tensor in some memory, in elements. */
export interface Layout {
  readonly shape: Shape;
  readonly strides: Strides;
  readonly offset: number;
}

/** A dimension that two layouts of the same elements share. */
interface Dimension {
  readonly extent: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The layout of a tensor after the elements of `from`, which fill its memory, are moved to those of `to` in
 * another memory; null if strides cannot express the new layout.
 */
export function placeThrough(tensor: Layout, from: Layout, to: Layout): Layout | null {
  const dimensions = sharedDimensions(from, to);
  if (dimensions === null || from.offset !== 0) return null;
  const taken = dimensions.map(() => 0);
  /**
   * The stride in the other memory that corresponds to a stride in this memory, which is taken `times` times.
   */
  const step = (distance: number, times: number): number | null => {
    let [rest, moved] = [distance, 0];
    for (const [d, { extent, from: own, to: other }] of dimensions.entries()) {
      const count = Math.floor(rest / own);
      rest -= count * own;
      taken[d] += count * times;
      // A sum of strides must not carry over to the next dimension.
      if (taken[d] >= extent) return null;
      moved += count * other;
    }
    return rest === 0 ? moved : null;
  };
  const start = step(tensor.offset, 1);
  if (start === null || tensor.strides.some(stride => stride < 0)) return null;
  const strides: number[] = [];
  for (const [d, extent] of tensor.shape.entries()) {
    const stride = extent > 1 ? step(tensor.strides[d], extent - 1) : 0;
    if (stride === null) return null;
    strides.push(stride);
  }
  return { shape: tensor.shape, strides, offset: to.offset + start };
}

/**
 * The shared dimensions of two layouts, merged as far as possible and sorted by descending stride in `from`;
 * null if `from` has gaps.
 */
function sharedDimensions(from: Layout, to: Layout): readonly Dimension[] | null {
  const all = from.shape
    .map((extent, d): Dimension => ({ extent, from: from.strides[d], to: to.strides[d] }))
    .filter(({ extent }) => extent !== 1)
    .sort((a, b) => a.from - b.from);
  const found: Dimension[] = [];
  let filled = 1;
  for (const dimension of all) {
    if (dimension.from !== filled || dimension.extent === 0) return null;
    filled *= dimension.extent;
    const inner = found.at(-1);
    if (inner && dimension.to === inner.to * inner.extent)
      found[found.length - 1] = { ...inner, extent: inner.extent * dimension.extent };
    else found.push(dimension);
  }
  return found.reverse();
}

/** The layout of a tensor that starts at the beginning of its memory, or at `offset`. */
export const layoutOf = ({ shape, strides }: TensorDesc, offset = 0): Layout => ({ shape, strides, offset });
