import { required } from '../../../attention/host/required.ts';
import type { Visibility } from '../../../attention/host/visibility.ts';
import { type AttentionProblem, BLOCK_MASK_TILE, type Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { Panel } from '../../kernels/memory/memory.ts';
import { createMaskRows } from '../../operands/broadcast-rows.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import type { RowRanges, Seen } from './row-ranges.ts';
import { NO_TILE, type ScoreTile } from './score-tile.ts';
import type { TileSize } from './tile-size.ts';

/** Which queries see which keys within one tile of the score matrix. */
export interface TileVisibility {
  /** Selects the rows that the ranges are set to. */
  select(queries: QueryTile): void;
  /** Inspects a tile of these rows. If no pair is visible, the product is not needed. */
  inspect(tile: ScoreTile): Seen;
  /** Sets the scores of invisible pairs of the last inspected tile to −∞, within the ranges of the rows. */
  hide(scores: Panel, ld: number): void;
  /** Also sets the scores outside the ranges to −∞. */
  hideOutside(scores: Panel, ld: number): void;
}

/** The bytes of a tile that say which pairs are seen; rows are `ld` bytes apart. */
interface SeenBytes {
  readonly at: number;
  readonly ld: number;
}

/** What the tiles of some query rows are computed from; `ranges` must be set to the selected rows. */
export interface RowsContext {
  readonly problem: AttentionProblem;
  readonly operands: Operands<Tensor>;
  readonly kernels: Kernels;
  readonly size: TileSize;
  readonly visibility: Visibility;
  readonly ranges: RowRanges;
}

/** The visibility of a problem tile by tile. */
export function createTileVisibility(context: RowsContext): TileVisibility {
  const { problem, operands, kernels, size, visibility, ranges } = context;
  const { blockMask, Skv } = problem;
  const { hasPairMask } = visibility;
  const T = size.columns;
  const mask =
    problem.mask &&
    createMaskRows(kernels, problem.mask, required('mask', operands.mask), { rows: size.rows, Skv });
  const evaluated = kernels.memory.allocate(Uint8Array, hasPairMask || blockMask ? size.rows * T : 0);
  let tile: ScoreTile = NO_TILE;
  let seen: SeenBytes | null = null;

  /** Evaluates the visibility of each pair within the ranges. */
  function evaluate(): SeenBytes {
    const { values } = evaluated;
    const { b, h, i0, rows, j0, columns } = tile;
    for (let i = 0; i < rows; i++) {
      const to = Math.min(ranges.hi(i), j0 + columns);
      for (let j = Math.max(ranges.lo(i), j0); j < to; j++) {
        values[i * T + j - j0] = visibility.isVisible(b, h, i0 + i, j) ? 1 : 0;
      }
    }
    return { at: evaluated.at, ld: T };
  }

  /**
   * The options that decide about pairs besides lengths and band; null if there are none, or if all of the
   * tile is in a visible block.
   */
  function seenPairs(isOneBlock: boolean): SeenBytes | null {
    if (hasPairMask || (blockMask && !isOneBlock)) return evaluate();
    return mask && { at: mask.at(tile.j0), ld: mask.ld };
  }

  return {
    select(queries) {
      mask?.select(queries, ranges.first(), ranges.end());
    },
    inspect(next) {
      tile = next;
      const { b, h, i0, rows, j0, columns } = tile;
      const inRanges = ranges.seen(j0, j0 + columns);
      if (inRanges === 'none') return 'none';
      const isOneBlock = isInOneBlock(i0, rows) && isInOneBlock(j0, columns);
      if (isOneBlock && !visibility.showsBlock(b, h, i0, j0)) return 'none';
      seen = seenPairs(isOneBlock);
      if (!seen) return inRanges;
      const count = kernels.countSeen(rows, columns, seen.at, seen.ld, ranges.at, j0);
      if (count === 0) return 'none';
      return count === rows * columns ? 'all' : 'some';
    },
    hide({ at }, ld) {
      if (seen) kernels.hideUnseen(tile.rows, tile.columns, at, ld, seen.at, seen.ld);
    },
    hideOutside({ values }, ld) {
      const { rows, j0, columns } = tile;
      for (let i = 0; i < rows; i++) {
        const from = Math.min(Math.max(ranges.lo(i) - j0, 0), columns);
        const to = Math.min(Math.max(ranges.hi(i) - j0, from), columns);
        const row = (i * ld) >> 2;
        values.fill(-Infinity, row, row + from);
        values.fill(-Infinity, row + to, row + columns);
      }
    },
  };
}

/** Whether `count` positions from `first` on are in one block of a block mask. */
function isInOneBlock(first: number, count: number): boolean {
  return Math.floor(first / BLOCK_MASK_TILE) === Math.floor((first + count - 1) / BLOCK_MASK_TILE);
}
