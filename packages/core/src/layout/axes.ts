import { InvalidShapeError } from '../errors.ts';
import { checkHostTensor } from '../tensor/checks/check-on-host.ts';
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

/** Positions `from` to `to` (exclusive) of sequence b of a (B, H, S, D) tensor; a view. */
export function positions(t: Tensor, b: number, from: number, to: number): Tensor {
  return t.slice(0, b, b + 1).slice(2, from, to);
}

/**
 * @throws InvalidArgumentError for what is no tensor; InvalidShapeError unless it has one dimension for every
 * name.
 */
export function checkAxes(argument: string, t: Tensor, names: readonly string[]): void {
  checkHostTensor(argument, t);
  if (t.rank !== names.length) {
    throw new InvalidShapeError(argument, `must have shape (${names.join(', ')}), got [${t.shape}]`);
  }
}
