import { hostOperand } from '../../../attention/host/addressing.ts';
import { createKeyRanges, type KeyRanges } from '../../../attention/host/key-ranges.ts';
import { createLengths, type SequenceSide } from '../../../attention/host/sequences.ts';
import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import { createFp8, type Fp8Arithmetic } from '../../../score/fp8.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { Panel } from '../../kernels/memory/memory.ts';
import { createHeadPanels, type HeadPanels } from '../../operands/head-panels.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import { createRowPanel, type RowPanel } from '../../operands/row-panel.ts';
import { createPairRows, type PairRows } from './pair-rows.ts';
import { createRowRanges } from './row-ranges.ts';
import { NO_TILE, type ScoreTile } from './score-tile.ts';
import { createDropoutTile, type DropoutTile } from './stages/dropout.ts';
import { createFinishScores } from './stages/finish-scores.ts';
import { createScoreModTile, type ScoreModTile } from './stages/score-mod.ts';
import { createSoftcapTile, type SoftcapTile } from './stages/softcap.ts';
import { paddedElements, type TileRange, type TileSize } from './tile-size.ts';
import { createTileVisibility } from './visibility.ts';

/** The forms of k and v that a pass multiplies by, besides the transposed k for the scores. */
export interface PanelForms {
  readonly kRows: boolean;
  readonly vRows: boolean;
  readonly vColumns: boolean;
  /** Whether the pass also multiplies by q, so that q is needed as panels. */
  readonly qPanels: boolean;
  /** Whether the pass needs the derivatives of the score mod and of softcap. */
  readonly derivatives: boolean;
}

/** The score matrix of a problem, one tile at a time; shared by forward and backward. */
export interface ScoreTiles {
  readonly lengths: { readonly q: SequenceSide; readonly kv: SequenceSide };
  readonly keyRanges: KeyRanges;
  readonly pairs: PairRows;
  readonly fp8: Fp8Arithmetic;
  readonly q: RowPanel;
  readonly k: HeadPanels;
  readonly v: HeadPanels;
  readonly dropout: DropoutTile | null;
  /**
   * The final scores of the last computed tile, row i and key j at element i·T + j. Within the ranges of the
   * rows, pairs that are not seen have −Infinity; outside the ranges, scores are undefined.
   */
  readonly scores: Panel;
  readonly scoreMod: ScoreModTile | null;
  readonly softcap: SoftcapTile | null;
  /** Bytes between rows of a tile. */
  readonly ld: number;
  /**
   * Selects a tile of query rows. Returns the tiles, within `among` if given, in which the rows may see a
   * key.
   */
  select(queries: QueryTile, among?: TileRange): TileRange;
  /** The address of the ranges of the selected rows; 0 if all of the last computed tile is seen. */
  ranges(): number;
  /**
   * Computes tile `index` of the selected rows. If none of its pairs is visible, returns null and computes
   * nothing. The next call changes the returned tile.
   */
  compute(index: number): ScoreTile | null;
}

/** Sets up the panels of a problem: O((rows + Skv)·D + rows·T) numbers. */
export function createScoreTiles(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  size: TileSize,
  forms: PanelForms,
): ScoreTiles {
  const { Hq, Hk, Hv, Skv, Dqk } = problem;
  const T = size.columns;
  const lengths = createLengths(problem, operands);
  const keyRanges = createKeyRanges(problem, operands);
  const ranges = createRowRanges(keyRanges, kernels.memory, size.rows);
  const rows = { problem, operands, kernels, size, keyRanges, ranges };
  const seen = createTileVisibility(rows);
  const pairs = createPairRows(ranges);
  const scoreMod = createScoreModTile(problem, operands, pairs, size, forms.derivatives);
  const softcap = createSoftcapTile(problem, kernels, size, forms.derivatives);
  const final = createFinishScores(rows, seen, scoreMod, softcap);
  const dropout = createDropoutTile(problem, operands, kernels, size);
  const fp8 = createFp8(problem, operands);
  const factor = problem.scale * fp8.descaleQ * fp8.descaleK;

  const operandQ = hostOperand('q', problem.q, operands, lengths.q);
  const operandK = hostOperand('k', problem.k, operands, lengths.kv);
  const operandV = hostOperand('v', problem.v, operands, lengths.kv);
  const panelsOfK = { positions: Skv, T, rows: forms.kRows, columns: true };
  const panelsOfV = { positions: Skv, T, rows: forms.vRows, columns: forms.vColumns };
  const q = createRowPanel(kernels, operandQ, size.rows, forms.qPanels);
  const k = createHeadPanels(kernels, operandK, panelsOfK);
  const v = createHeadPanels(kernels, operandV, panelsOfV);

  const scores = kernels.memory.floats(paddedElements(size));
  const ld = 4 * T;
  /** One object for all tiles, so that tiles create no garbage. */
  const tile: { -readonly [K in keyof ScoreTile]: number } = { ...NO_TILE };
  let inRange = 0;

  return {
    lengths,
    keyRanges,
    pairs,
    fp8,
    q,
    k,
    v,
    dropout,
    scores,
    scoreMod,
    softcap,
    ld,
    select(queries, among) {
      Object.assign(tile, queries);
      const { b, h, i0, rows } = queries;
      ranges.select(b, i0, rows);
      const firstTile = Math.max(Math.floor(ranges.first() / T), among?.firstTile ?? 0);
      const endTile = Math.min(Math.ceil(ranges.end() / T), among?.endTile ?? Infinity);
      if (firstTile >= endTile) return { firstTile, endTile };
      q.load(queries);
      k.select(b, Math.floor(h / (Hq / Hk)), lengths.kv.length(b));
      v.select(b, Math.floor(h / (Hq / Hv)), lengths.kv.length(b));
      seen.select(queries);
      final.select(queries);
      return { firstTile, endTile };
    },
    ranges: () => inRange,
    compute(index) {
      const j0 = index * T;
      const columns = Math.min(T, lengths.kv.length(tile.b) - j0);
      tile.index = index;
      tile.j0 = j0;
      tile.columns = columns;
      const visible = seen.inspect(tile);
      if (visible === 'none') return null;
      k.load(index);
      inRange = visible === 'all' ? 0 : ranges.at;
      const at = k.columnsAt(index);
      const { rows } = tile;
      kernels.multiplyScores(rows, columns, Dqk, q.at, q.ld, at, scores.at, ld, factor, inRange, j0);
      final.finish(scores, ld, tile, visible === 'some');
      return tile;
    },
  };
}
