import type { Shape, Strides, TensorDesc } from '@tilewise/core';

/** Where a tensor lies in some memory, in elements. */
export interface Layout {
  readonly shape: Shape;
  readonly strides: Strides;
  readonly offset: number;
}

/** A dimension of two layouts of the same elements. */
interface Dimension {
  readonly extent: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A tensor of one memory in another one, when the elements of `from`, which fill the first memory, are moved
 * to those of `to`; null where strides cannot say where the elements of the tensor are then.
 */
export function placeThrough(tensor: Layout, from: Layout, to: Layout): Layout | null {
  const dimensions = joined(from, to);
  if (dimensions === null || from.offset !== 0) return null;
  const taken = dimensions.map(() => 0);
  /** The step in the other memory of one in this one, which is taken `times` times. */
  const step = (distance: number, times: number): number | null => {
    let [rest, moved] = [distance, 0];
    for (const [d, { extent, from: own, to: other }] of dimensions.entries()) {
      const count = Math.floor(rest / own);
      rest -= count * own;
      taken[d] += count * times;
      // A sum of steps must not carry over to the next dimension.
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
 * The dimensions of two layouts, those first whose elements lie furthest apart in `from`, and as few as say
 * the same; null where `from` has gaps.
 */
function joined(from: Layout, to: Layout): readonly Dimension[] | null {
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

/** A tensor from the start of its memory on. */
export const layoutOf = ({ shape, strides }: TensorDesc, offset = 0): Layout => ({ shape, strides, offset });
