import { contiguousStrides } from '@tilewise/core';

/** `2x16x384x64` as extents; `-` is a scalar. */
export function readExtents(text: string): number[] {
  return text === '-' ? [] : text.split('x').map(Number);
}

/** Strides as numbers (`AxB…`), or as the order of dimensions in memory from the outermost (`acbd`); dense when empty. */
export function readStrides(text: string, shape: readonly number[]): number[] {
  if (text === '') return contiguousStrides(shape);
  if (!/^[a-z]+$/.test(text)) return readExtents(text);
  const order = [...text].map(letter => letter.charCodeAt(0) - 'a'.charCodeAt(0));
  const inOrder = contiguousStrides(order.map(d => shape[d]));
  const strides = new Array<number>(shape.length).fill(1);
  order.forEach((d, n) => {
    strides[d] = inOrder[n];
  });
  return strides;
}
