import type { AttentionProblem, Operands } from '../attention/problem.ts';
import type { Visibility } from '../attention/visibility.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { RowRanges, Seen } from './row-ranges.ts';
import type { TileSize } from './tile-size.ts';

/** Who sees whom within one tile of the score matrix. */
export interface TileVisibility {
  /** Looks at keys j0.. of the rows that the ranges are on. Tiles of which nothing is seen are not worth a product. */
  look(b: number, h: number, i0: number, rows: number, j0: number, columns: number): Seen;
  /** Sets what is not seen in the tile last looked at to −Infinity. */
  hide(scores: Float32Array, ld: number): void;
}

/** The visibility of a problem tile by tile; `ranges` must be on the rows that are looked at. */
export function createTileVisibility(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  visibility: Visibility,
  ranges: RowRanges,
  tiles: TileSize,
): TileVisibility {
  if (visibility.rangesAreExact) return bandVisibility(ranges);
  const onlyMask = problem.mask !== null && problem.blockMask === null && problem.maskMod === null;
  const readRow = onlyMask ? maskRow(problem, operands) : predicateRow(visibility);
  return pairVisibility(ranges, tiles, readRow);
}

/** Lengths and diagonal band alone: one range per row. */
function bandVisibility(ranges: RowRanges): TileVisibility {
  let rows = 0;
  let columns = 0;
  let j0 = 0;
  return {
    look(_b, _h, _i0, nextRows, nextJ0, nextColumns) {
      rows = nextRows;
      columns = nextColumns;
      j0 = nextJ0;
      return ranges.seen(j0, j0 + columns);
    },
    hide(scores, ld) {
      for (let i = 0; i < rows; i++) {
        const from = Math.min(Math.max(ranges.lo(i) - j0, 0), columns);
        const to = Math.min(Math.max(ranges.hi(i) - j0, from), columns);
        scores.fill(-Infinity, i * ld, i * ld + from);
        scores.fill(-Infinity, i * ld + to, i * ld + columns);
      }
    },
  };
}

/** Writes 1 for each key j0 ≤ j < j1 of row i that is seen, else 0, to `out` from `at`; all are within lengths and band. */
type ReadRow = (b: number, h: number, i: number, j0: number, j1: number, out: Uint8Array, at: number) => void;

/** Lengths and band, and in them a decision per pair. */
function pairVisibility(ranges: RowRanges, tiles: TileSize, readRow: ReadRow): TileVisibility {
  const seen = new Uint8Array(tiles.rows * tiles.columns);
  let rows = 0;
  let columns = 0;
  return {
    look(b, h, i0, nextRows, j0, nextColumns) {
      rows = nextRows;
      columns = nextColumns;
      if (ranges.seen(j0, j0 + columns) === 'none') return 'none';
      seen.fill(0, 0, rows * columns);
      for (let i = 0; i < rows; i++) {
        const from = Math.max(ranges.lo(i), j0);
        const to = Math.min(ranges.hi(i), j0 + columns);
        if (from < to) readRow(b, h, i0 + i, from, to, seen, i * columns + from - j0);
      }
      let count = 0;
      for (let n = 0; n < rows * columns; n++) count += seen[n];
      if (count === 0) return 'none';
      return count === rows * columns ? 'all' : 'some';
    },
    hide(scores, ld) {
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) {
          if (seen[i * columns + j] === 0) scores[i * ld + j] = -Infinity;
        }
      }
    },
  };
}

function predicateRow({ isVisible }: Visibility): ReadRow {
  return (b, h, i, j0, j1, out, at) => {
    for (let j = j0; j < j1; j++) out[at + j - j0] = isVisible(b, h, i, j) ? 1 : 0;
  };
}

/** The boolean mask read along its rows; `Visibility` would ask for the row's range again at every pair. */
function maskRow({ mask: desc }: AttentionProblem, { mask }: Operands<Tensor>): ReadRow {
  if (!desc || !mask) throw new TypeError('a problem with a mask has the mask among its operands');
  const { data, offset } = mask;
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j0, j1, out, at) => {
    const row = offset + b * sb + h * sh + i * si;
    for (let j = j0; j < j1; j++) out[at + j - j0] = data[row + j * sj] === 0 ? 0 : 1;
  };
}
