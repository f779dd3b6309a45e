import { elementCount, type Shape, Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';

/** The number of values that are drawn; inputs repeat them. */
const DRAWN = 2 ** 20;
/** The shift of each repetition: an odd number, so that no two heads have equal rows. */
const SHIFT = 7919;

/**
 * f32 tensors of standard normal numbers, each from its own stream, the same in every run. Drawing all the
 * numbers for a GPU would take seconds, so larger tensors repeat the drawn numbers, shifted each time.
 */
export function normalInputs<N extends string>(names: readonly N[], shape: Shape): Record<N, Tensor> {
  const size = elementCount(shape);
  const entries = names.map((name, subsequence) => {
    const drawn = fillNormal(new Float32Array(Math.min(size, DRAWN)), { seed: 1, subsequence });
    return [name, Tensor.wrap(repeated(drawn, size), { dtype: 'f32', shape })];
  });
  return Object.fromEntries(entries);
}

/** Repeats the numbers, each time starting SHIFT later. */
function repeated(drawn: Float32Array, size: number): Float32Array {
  if (drawn.length === size) return drawn;
  const values = new Float32Array(size);
  const put = (piece: Float32Array, at: number): void => {
    if (at < size) values.set(piece.subarray(0, size - at), at);
  };
  const { length } = drawn;
  for (let at = 0, first = 0; at < size; at += length, first = (first + SHIFT) % length) {
    put(drawn.subarray(first), at);
    put(drawn.subarray(0, first), at + length - first);
  }
  return values;
}
