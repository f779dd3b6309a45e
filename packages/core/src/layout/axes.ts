import { InvalidShapeError } from '../errors.ts';
import { checkHostTensor } from '../tensor/checks/check-on-host.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * A view of a tensor whose dimensions have the letters of `from`, with the dimensions in the order of the
 * letters of `to`: `reorder('q', t, 'bshd', 'bhsd')`.
 * @throws InvalidShapeError if the tensor does not have that rank.
 */
export function reorder(argument: string, t: Tensor, from: string, to: string): Tensor {
  checkAxes(argument, t, Array.from(from.toUpperCase()));
  return t.permute(...Array.from(to, letter => from.indexOf(letter)));
}

/** Positions `from` to `to` (exclusive) of sequence b of a (B, H, S, D) tensor; a view. */
export function positions(t: Tensor, b: number, from: number, to: number): Tensor {
  return t.slice(0, b, b + 1).slice(2, from, to);
}

/**
 * Checks that a tensor has one dimension for every name.
 * @throws InvalidArgumentError for a value that is not a tensor; InvalidShapeError for another rank.
 */
export function checkAxes(argument: string, t: Tensor, names: readonly string[]): void {
  checkHostTensor(argument, t);
  if (t.rank !== names.length) {
    throw new InvalidShapeError(argument, `must have shape (${names.join(', ')}), got [${t.shape}]`);
  }
}
