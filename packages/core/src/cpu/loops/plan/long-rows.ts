import type { Collapsed } from '../../../tensor/collapse-dimensions.ts';

/**
 * Moves the longest dimension except the last next to the last, because the loop counts that dimension
 * without returning to the host; the others keep their order.
 */
export function withLongRows({ shape, strides }: Collapsed): Collapsed {
  const outer = shape.slice(0, -1);
  const longest = outer.lastIndexOf(Math.max(...outer));
  const order = [...shape.keys()].filter(d => d !== longest);
  order.splice(-1, 0, ...(longest < 0 ? [] : [longest]));
  return { shape: order.map(d => shape[d]), strides: strides.map(own => order.map(d => own[d])) };
}
