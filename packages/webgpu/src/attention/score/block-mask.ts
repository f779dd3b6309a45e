import { BLOCK_MASK_TILE } from '@tilewise/core/engine';
import { readElement } from '../../codegen/shader-part.ts';
import { broadcastPart } from '../layout/broadcast.ts';
import { type Tile, tileSize } from '../tiles/tile.ts';
import type { ScoreStageFactory } from './stage.ts';

/** Whether every tile is inside one block, so that the mask shows either all of the tile or nothing. */
function liesInBlocks({ grid }: Tile): boolean {
  const { rows, cols } = tileSize(grid);
  return BLOCK_MASK_TILE % rows === 0 && BLOCK_MASK_TILE % cols === 0;
}

/**
 * Hides the blocks of 128 queries and keys whose bit is 0: bit n (least significant first) of byte c stands
 * for key block 8c + n. A kernel skips hidden tiles if it works on one head at a time, in tiles that are each
 * inside one block.
 */
export const blockMaskStage: ScoreStageFactory = ({ blockMask }, { tile }) => {
  if (!blockMask) return null;
  const skips = tile !== null && liesInBlocks(tile);
  const code = `fn block_visible(seq: Sequence, h: u32, i: u32, j: u32) -> bool {
  let block = j / ${BLOCK_MASK_TILE}u;
  let at = blockMask_at(seq, h, i / ${BLOCK_MASK_TILE}u, block / 8u);
  return ((${readElement('blockMask', 'at >> 2u')} >> ((at & 3u) * 8u + (block & 7u))) & 1u) == 1u;
}`;
  return {
    ...broadcastPart('blockMask', blockMask, code),
    // Four adjacent keys are in the same block.
    apply: skips ? '' : 'visible = visible & vec4<bool>(block_visible(seq, h, i, j));',
    masks: !skips,
    ...(skips ? { isVisibleTile: 'block_visible(seq, h, i0, j0)' } : {}),
  };
};
