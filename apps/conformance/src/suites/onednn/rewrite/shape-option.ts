import { contiguousStrides } from '@tilewise/core';

/** The value of `--in-shapes` for one tensor: `SHAPE`, `SHAPE*STRIDES` or `*STRIDES`. */
export interface ShapeOption {
  /** Absent where only strides are said. */
  readonly shape?: readonly number[];
  /** The strides as `readStrides` takes them; empty: dense. */
  readonly strides: string;
}

/**
 * Reads `2x16x384x64*acbd`; `-` is a scalar.
 * @throws Error when it is something else.
 */
export function readShapeOption(text: string): ShapeOption {
  const [extents, strides, ...more] = text.split('*');
  if (more.length > 0 || strides === '' || (extents === '' && strides === undefined))
    throw new Error(`in-shapes: '${text}' is no SHAPE, SHAPE*STRIDES or *STRIDES`);
  return { ...(extents !== '' && { shape: readExtents(extents) }), strides: strides ?? '' };
}

/**
 * `2x16x384x64` as extents; `-` is a scalar.
 * @throws Error when one is no integer from 0 on.
 */
export function readExtents(text: string): number[] {
  if (text === '-') return [];
  if (!/^\d+(x\d+)*$/.test(text)) throw new Error(`'${text}' are no integers with x between them`);
  return text.split('x').map(Number);
}

/**
 * Strides as numbers (`AxB…`), or as the order of dimensions in memory from the outermost (`acbd`); dense
 * when empty.
 * @throws Error when they are not one for each dimension.
 */
export function readStrides(text: string, shape: readonly number[]): number[] {
  if (text === '') return contiguousStrides(shape);
  if (/[^a-z]/.test(text)) {
    const strides = readExtents(text);
    if (strides.length === shape.length) return strides;
    throw new Error(`the strides ${text} are ${strides.length}, for a shape of ${shape.length}`);
  }
  const order = [...text].map(letter => letter.charCodeAt(0) - 'a'.charCodeAt(0));
  if (order.length !== shape.length || shape.some((_, d) => !order.includes(d)))
    throw new Error(`${text} is no order of ${shape.length} dimensions`);
  const inOrder = contiguousStrides(order.map(d => shape[d]));
  return shape.map((_, d) => inOrder[order.indexOf(d)]);
}
