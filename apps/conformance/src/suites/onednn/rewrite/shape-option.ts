import { contiguousStrides } from '@tilewise/core';

/** The value of `--in-shapes` for one tensor: `SHAPE`, `SHAPE*STRIDES` or `*STRIDES`. */
export interface ShapeOption {
  /** Absent if only strides are given. */
  readonly shape?: readonly number[];
  /** The strides in the format of `readStrides`; empty for dense. */
  readonly strides: string;
}

/**
 * Parses `2x16x384x64*acbd`; `-` is a scalar.
 * @throws Error if the text has another form.
 */
export function readShapeOption(text: string): ShapeOption {
  const [extents, strides, ...more] = text.split('*');
  if (more.length > 0 || strides === '' || (extents === '' && strides === undefined))
    throw new Error(`in-shapes: '${text}' is not SHAPE, SHAPE*STRIDES or *STRIDES`);
  return { ...(extents !== '' && { shape: readExtents(extents) }), strides: strides ?? '' };
}

/**
 * Parses `2x16x384x64` as extents; `-` is a scalar.
 * @throws Error if an extent is not an integer of at least 0.
 */
function readExtents(text: string): number[] {
  if (text === '-') return [];
  if (!/^\d+(x\d+)*$/.test(text)) throw new Error(`'${text}' must be integers separated by x`);
  return text.split('x').map(Number);
}

/**
 * Parses strides as numbers (`AxB…`), or as the memory order of the dimensions from the outermost (`acbd`);
 * an empty text means dense.
 * @throws Error if there is not one stride for each dimension.
 */
export function readStrides(text: string, shape: readonly number[]): number[] {
  if (text === '') return contiguousStrides(shape);
  if (/[^a-z]/.test(text)) {
    const strides = readExtents(text);
    if (strides.length === shape.length) return strides;
    throw new Error(`there must be ${shape.length} strides, got '${text}'`);
  }
  const order = [...text].map(letter => letter.charCodeAt(0) - 'a'.charCodeAt(0));
  if (order.length !== shape.length || shape.some((_, d) => !order.includes(d)))
    throw new Error(`${text} is not an order of ${shape.length} dimensions`);
  const inOrder = contiguousStrides(order.map(d => shape[d]));
  return shape.map((_, d) => inOrder[order.indexOf(d)]);
}
