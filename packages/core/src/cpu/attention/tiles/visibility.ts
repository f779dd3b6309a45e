import { blockMaskPredicate } from '../../../attention/host/block-mask.ts';
import type { KeyRanges } from '../../../attention/host/key-ranges.ts';
import { required } from '../../../attention/host/required.ts';
import { maskPredicates } from '../../../attention/host/visibility.ts';
import { BLOCK_MASK_TILE } from '../../../attention/problem/limits.ts';
import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import { compileRows } from '../../../expr/evaluate/rows.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { Panel } from '../../kernels/memory/memory.ts';
import { createMaskRows } from '../../operands/broadcast-rows.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import { createPairRows } from './pair-rows.ts';
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
  readonly keyRanges: KeyRanges;
  readonly ranges: RowRanges;
}

/** The visibility of a problem tile by tile. */
export function createTileVisibility(context: RowsContext): TileVisibility {
  const { problem, operands, kernels, size, ranges } = context;
  const { maskMod, Skv } = problem;
  const T = size.columns;
  const mask =
    problem.mask &&
    createMaskRows(kernels, problem.mask, required('mask', operands.mask), { rows: size.rows, Skv });
  const showsBlock = blockMaskPredicate(problem, operands);
  const admits = maskMod && compileRows(maskMod, operands.captures ?? {}, T);
  /** The masks that are tested pair by pair. */
  const others = maskPredicates({ ...problem, mask: null, blockMask: null, maskMod: null }, operands);
  const pairs = createPairRows(ranges);
  const evaluates = admits !== null || showsBlock !== null || others.length > 0;
  const evaluated = kernels.memory.allocate(Uint8Array, evaluates ? size.rows * T : 0);
  let tile: ScoreTile = NO_TILE;
  let seen: SeenBytes | null = null;

  /** Combines all masks of each pair within the ranges. */
  function evaluate(isOneBlock: boolean): SeenBytes {
    const { values } = evaluated;
    const { u8 } = kernels.memory;
    const predicates = isOneBlock || !showsBlock ? others : [...others, showsBlock];
    pairs.visit(tile, noScores, T, row => {
      const { b, h, q, kv, count, at } = row;
      const given = mask ? mask.at(kv) + (q - tile.i0) * mask.ld : 0;
      for (let n = 0; n < count; n++) {
        const isMasked = mask !== null && u8[given + n] === 0;
        values[at + n] = !isMasked && predicates.every(shows => shows(b, h, q, kv + n)) ? 1 : 0;
      }
      // The mask mod may be undefined for pairs that other masks hide.
      const admitted = admits?.(row, n => values[at + n] !== 0);
      if (admitted) for (let n = 0; n < count; n++) if (admitted[n] === 0) values[at + n] = 0;
    });
    return { at: evaluated.at, ld: T };
  }

  /**
   * The options that decide about pairs besides lengths and band; null if there are none, or if all of the
   * tile is in a visible block.
   */
  function seenPairs(isOneBlock: boolean): SeenBytes | null {
    if (admits || others.length > 0 || (showsBlock && !isOneBlock)) return evaluate(isOneBlock);
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
      if (isOneBlock && showsBlock && !showsBlock(b, h, i0, j0)) return 'none';
      seen = seenPairs(isOneBlock);
      if (!seen) return inRanges;
      const count = kernels.countSeen(rows, columns, seen.at, seen.ld, ranges.at, j0);
      if (count === 0) return 'none';
      return count === rows * columns ? 'all' : 'some';
    },
    hide({ at }, ld) {
      if (seen) kernels.hideUnseen(tile.rows, tile.columns, at, ld, seen.at, seen.ld);
    },
  };
}

/** Masks do not read scores. */
const noScores: readonly number[] = [];

/** Whether `count` positions from `first` on are in one block of a block mask. */
function isInOneBlock(first: number, count: number): boolean {
  return Math.floor(first / BLOCK_MASK_TILE) === Math.floor((first + count - 1) / BLOCK_MASK_TILE);
}
