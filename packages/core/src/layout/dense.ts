import { checkOneOf } from '../errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reorder } from './axes.ts';

const denseLayouts = ['bhsd', 'bshd', 'sbhd'] as const;

/**
 * The order in which a dense tensor's dimensions are stored: batch, head, sequence position, element of the
 * head.
 */
export type DenseLayout = (typeof denseLayouts)[number];

/**
 * A view of a tensor of shape (B, H, S, D), (B, S, H, D) or (S, B, H, D) as the (B, H, S, D) that attention
 * takes. For an output in another layout, make zeros of its shape and view them.
 * @throws InvalidShapeError if the tensor is not of rank 4; InvalidArgumentError for an unknown layout.
 */
export function asBhsd(t: Tensor, layout: DenseLayout): Tensor {
  checkOneOf('layout', layout, denseLayouts);
  return reorder('t', t, layout, 'bhsd');
}

/**
 * The inverse of `asBhsd`: a view of a (B, H, S, D) tensor with its dimensions in the order of `layout`.
 * @throws InvalidShapeError if the tensor is not of rank 4; InvalidArgumentError for an unknown layout.
 */
export function fromBhsd(t: Tensor, layout: DenseLayout): Tensor {
  checkOneOf('layout', layout, denseLayouts);
  return reorder('t', t, 'bhsd', layout);
}
