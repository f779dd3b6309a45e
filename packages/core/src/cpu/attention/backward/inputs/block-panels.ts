import type { HostOperand } from '../../../../attention/host/addressing.ts';
import { required } from '../../../../attention/host/required.ts';
import type { SequenceSide } from '../../../../attention/host/sequences.ts';
import { describeDense } from '../../../../attention/problem/describe.ts';
import type { Mxfp8RoundedName } from '../../../../attention/problem/mxfp8.ts';
import type { AttentionProblem, Operands } from '../../../../attention/problem/problem.ts';
import { roundToBlocks } from '../../../../mxfp8/quantise.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import type { Kernels } from '../../../kernels/interface/kernels.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import { createHeadPanels, type HeadPanels } from '../../../operands/head-panels.ts';
import type { QueryTile } from '../../../operands/query-tile.ts';
import { createRowPanel, type RowPanel } from '../../../operands/row-panel.ts';
import type { TileSize } from '../../tiles/tile-size.ts';

/** The additional operands of backward's products if operands have block scales. */
export interface BlockPanels {
  readonly q: RowPanel;
  readonly dO8: RowPanel;
  readonly dOT: RowPanel;
  readonly k: HeadPanels;
  load(queries: QueryTile): void;
  /**
   * Rounds a tile of dS (rows `ld` numbers apart) in blocks along keys, in place, and returns a copy that is
   * rounded along queries. Tiles start at block boundaries.
   */
  round(dS: Float32Array, ld: number, rows: number, columns: number): Panel;
}

/** The block panels of a dequantised problem; null for a problem that never had block scales. */
export function createBlockPanels(
  { fp8, Hq, Hk, Skv }: AttentionProblem,
  { mxfp8 }: Operands<Tensor>,
  lengths: { readonly q: SequenceSide; readonly kv: SequenceSide },
  kernels: Kernels,
  size: TileSize,
): BlockPanels | null {
  if (fp8?.kind !== 'dequantised') return null;
  const { dtype } = fp8;
  const operand = (name: Mxfp8RoundedName, side: SequenceSide): HostOperand => {
    const tensor = required(`mxfp8.${name}`, mxfp8?.[name]);
    return { desc: describeDense(name, tensor), tensor, side };
  };
  const [q, dO8, dOT] = (['qT', 'dO8', 'dOT'] as const).map(name =>
    createRowPanel(kernels, operand(name, lengths.q), size.rows, true),
  );
  const panelsOfK = { positions: Skv, T: size.columns, rows: true, columns: false };
  const k = createHeadPanels(kernels, operand('kT', lengths.kv), panelsOfK);
  const alongQueries = kernels.memory.floats(size.rows * size.columns);
  return {
    q,
    dO8,
    dOT,
    k,
    load(queries) {
      const { b, h } = queries;
      for (const panel of [q, dO8, dOT]) panel.load(queries);
      k.select(b, Math.floor(h / (Hq / Hk)), lengths.kv.length(b));
    },
    round(dS, ld, rows, columns) {
      const { values } = alongQueries;
      values.set(dS);
      roundToBlocks(values, { outer: columns, inner: rows, outerStep: 1, innerStep: ld }, dtype);
      roundToBlocks(dS, { outer: rows, inner: columns, outerStep: ld, innerStep: 1 }, dtype);
      return alongQueries;
    },
  };
}
