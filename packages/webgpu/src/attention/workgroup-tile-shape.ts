import { packedArithmetic } from './packed-arithmetic.ts';
import { readAhead } from './read-ahead.ts';
import type { WorkgroupTile, WorkgroupTileSizes } from './tile.ts';

/** What a tile through workgroup memory is made of, as plain data. */
export interface WorkgroupTileShape extends WorkgroupTileSizes {
  /**
   * What is multiplied in. f16 is for forward alone, on a pool of f16: it adds a few products up in f16 before they go to sums of f32, which
   * takes fewer instructions where two fit into one. How far results are off then, see `packedArithmetic`. Default f32.
   */
  readonly arithmetic?: 'f32' | 'f16';
  /** Lanes read what comes next from storage while they multiply, and hold it in registers. The results are the same. Default false. */
  readonly prefetch?: boolean;
}

/** A tile that brings the code of what few use, so that only those load it. */
export const workgroupTile = ({ arithmetic, prefetch, ...sizes }: WorkgroupTileShape): WorkgroupTile => ({
  ...sizes,
  ...(arithmetic === 'f16' && { arithmetic: packedArithmetic }),
  ...(prefetch && { ahead: readAhead }),
});
