import { InvalidShapeError } from '../errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * The dimensions of a tensor from the order that one word names them in to that of another, one letter each:
 * `reorder('q', t, 'bshd', 'bhsd')`. A view.
 * @throws InvalidShapeError when the tensor is not of that rank.
 */
export function reorder(argument: string, t: Tensor, from: string, to: string): Tensor {
  checkAxes(argument, t, Array.from(from.toUpperCase()));
  return t.permute(...Array.from(to, letter => from.indexOf(letter)));
}

/** @throws InvalidShapeError unless the tensor has one dimension for every name. */
export function checkAxes(argument: string, t: Tensor, names: readonly string[]): void {
  if (t.rank !== names.length) {
    throw new InvalidShapeError(argument, `must have shape (${names.join(', ')}), got [${t.shape}]`);
  }
}
