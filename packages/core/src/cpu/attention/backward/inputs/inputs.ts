import type { BackwardOperands, BackwardProblem } from '../../../../attention/problem/problem.ts';
import { createFp8, type Fp8Arithmetic } from '../../../../score/fp8.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import type { Kernels } from '../../../kernels/interface/kernels.ts';
import type { HeadPanels } from '../../../operands/head-panels.ts';
import type { RowPanel } from '../../../operands/row-panel.ts';
import { createScoreTiles, type ScoreTiles } from '../../tiles/score-tiles.ts';
import type { TileSize } from '../../tiles/tile-size.ts';
import { type BlockPanels, createBlockPanels } from './block-panels.ts';
import { createDeltaRows, type DeltaRows } from './delta.ts';

/** The operands that the stages of backward read. */
export interface BackwardInputs {
  readonly kernels: Kernels;
  readonly size: TileSize;
  readonly tiles: ScoreTiles;
  readonly fp8: Fp8Arithmetic;
  /** lse and delta of the query rows. */
  readonly rows: DeltaRows;
  /** Null if no operand has block scales. */
  readonly blocks: BlockPanels | null;
  /**
   * q and dO in the forms for the sums over queries (dk and dv), k in the form for the sum over keys (dq),
   * and dO in the form for dP = dO·vᵀ.
   */
  readonly q: RowPanel;
  readonly dOT: RowPanel;
  readonly k: HeadPanels;
  readonly dO8: RowPanel;
}

/** Sets up the panels of a backward problem whose operands are dequantised. */
export function createBackwardInputs(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  kernels: Kernels,
  size: TileSize,
): BackwardInputs {
  const { forward, gradients } = problem;
  const tiles = createScoreTiles(forward, operands, kernels, size, {
    kRows: gradients.includes('dq') && forward.fp8?.kind !== 'dequantised',
    vRows: false,
    vColumns: true,
    qPanels: gradients.includes('dk'),
    derivatives: true,
  });
  const { lengths, q, k } = tiles;
  const fp8 = createFp8(forward, operands, 'backward');
  const rows = createDeltaRows(problem, operands, lengths.q, kernels, size.rows, fp8);
  const blocks = createBlockPanels(forward, operands, lengths, kernels, size);
  const panels = blocks ?? { q, k, dO8: rows.dO, dOT: rows.dO };
  return { kernels, size, tiles, fp8, rows, blocks, ...panels };
}
