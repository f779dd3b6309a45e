import type { Tensor } from '../../tensor/tensor.ts';
import { BLOCK_MASK_TILE } from '../problem/limits.ts';
import type { AttentionProblem, Operands } from '../problem/problem.ts';
import { required } from './required.ts';

/** Whether query i of head h in sequence b may see key j. */
export type PairPredicate = (b: number, h: number, i: number, j: number) => boolean;

/**
 * Whether the block mask shows the 128×128 block that contains a pair; null without a block mask. Bit t mod 8
 * (least significant first) of byte ⌊t / 8⌋ stands for key tile t.
 * @throws InvalidArgumentError if the block mask is missing.
 */
export function blockMaskPredicate(
  { blockMask: desc }: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): PairPredicate | null {
  if (!desc) return null;
  const { data, offset } = required('blockMask', operands.blockMask);
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j) => {
    const tileQ = Math.floor(i / BLOCK_MASK_TILE);
    const tileKv = Math.floor(j / BLOCK_MASK_TILE);
    const byte = data[offset + b * sb + h * sh + tileQ * si + (tileKv >> 3) * sj];
    return ((byte >> (tileKv & 7)) & 1) === 1;
  };
}
