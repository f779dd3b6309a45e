import { InvalidShapeError } from '../../errors.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { BLOCK_MASK_TILE } from '../host/visibility.ts';
import { describeBroadcast } from './describe.ts';
import type { BroadcastDesc } from './problem.ts';

/**
 * The block mask option as (B, Hq, tiles of queries, bytes of key tiles), broadcast over batch and heads only: a bit stands
 * for one tile.
 * @throws InvalidShapeError when it does not have exactly the tiles of the problem.
 */
export function describeBlockMask(
  t: TensorDesc | undefined,
  B: number,
  Hq: number,
  Sq: number,
  Skv: number,
): BroadcastDesc | null {
  const tiles = [Math.ceil(Sq / BLOCK_MASK_TILE), Math.ceil(Math.ceil(Skv / BLOCK_MASK_TILE) / 8)] as const;
  const desc = describeBroadcast('blockMask', t, [B, Hq, ...tiles]);
  if (desc && !tiles.every((n, d) => desc.source.at(d - 2) === n)) {
    throw new InvalidShapeError(
      'blockMask',
      `must end in [${tiles}] (tiles, bytes), got shape [${desc.source}]`,
    );
  }
  return desc;
}
