import { Tensor } from '@tilewise/core';

/** Converts (B, H, S, D) to (B, S, H, D), in storage too, and back. */
export const swapHeads = (tensor: Tensor): Tensor => tensor.permute(0, 2, 1, 3).contiguous();

/** f32 values in the order (B, S, H, D) as a tensor (B, H, S, D). */
export function fromTokens(values: Float32Array, [B, H, S, D]: readonly number[]): Tensor {
  return swapHeads(Tensor.wrap(values, { dtype: 'f32', shape: [B, S, H, D] }));
}
