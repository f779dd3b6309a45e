import { BLOCK_MASK_TILE } from '@tilewise/core';
import { readElement } from '../../codegen/shader-part.ts';
import { broadcastPart } from '../layout/broadcast.ts';
import { type Tile, tileSize } from '../tiles/tile.ts';
import type { ScoreStageFactory } from './stage.ts';

/** A tile never lies across the edge of a block: the mask shows all of it or nothing. */
function liesInBlocks({ grid }: Tile): boolean {
  const { rows, cols } = tileSize(grid);
  return BLOCK_MASK_TILE % rows === 0 && BLOCK_MASK_TILE % cols === 0;
}

/**
 * Hides the blocks of 128 queries and keys whose bit is 0: bit n, least significant first, of byte c stands
 * for key block 8c + n. A kernel that works on one head in tiles which lie in blocks leaves the hidden ones
 * out.
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
    // Four neighbouring keys lie in one block.
    apply: skips ? '' : 'visible = visible & vec4<bool>(block_visible(seq, h, i, j));',
    masks: !skips,
    ...(skips ? { isVisibleTile: 'block_visible(seq, h, i0, j0)' } : {}),
  };
};
