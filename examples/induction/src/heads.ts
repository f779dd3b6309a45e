import { Tensor } from '@tilewise/core';

/** Sizes of an attention layer. */
export interface LayerShape {
  readonly heads: number;
  readonly headSize: number;
}

/** Numbers per token: those of all heads. */
export function widthOf({ heads, headSize }: LayerShape): number {
  return heads * headSize;
}

/** (B·S, width) data seen as (B, H, S, D), without a copy. */
export function headsOf(data: Float32Array, shape: LayerShape, length: number): Tensor {
  return headsView(data, shape, length, widthOf(shape), 0);
}

/** (B·S, 3·width) data, q, k and v beside each other, seen as three (B, H, S, D) tensors, without a copy. */
export function splitHeads(
  data: Float32Array,
  shape: LayerShape,
  length: number,
): { readonly q: Tensor; readonly k: Tensor; readonly v: Tensor } {
  const width = widthOf(shape);
  return {
    q: headsView(data, shape, length, 3 * width, 0),
    k: headsView(data, shape, length, 3 * width, width),
    v: headsView(data, shape, length, 3 * width, 2 * width),
  };
}

/** Copies the numbers of one (B, H, S, D) tensor to another. */
export function fillFromHeads(to: Tensor, from: Tensor): void {
  const values = from.toFloat32();
  let n = 0;
  for (const at of to.offsets()) to.data[at] = values[n++];
}

function headsView(
  data: Float32Array,
  { heads, headSize }: LayerShape,
  length: number,
  rowStep: number,
  offset: number,
): Tensor {
  return Tensor.wrap(data, {
    dtype: 'f32',
    shape: [data.length / (length * rowStep), heads, length, headSize],
    strides: [length * rowStep, headSize, rowStep, 1],
    offset,
  });
}
