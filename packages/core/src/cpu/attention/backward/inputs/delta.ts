import { hostOperand } from '../../../../attention/host/addressing.ts';
import { rowIndex } from '../../../../attention/host/result-index.ts';
import type { SequenceSide } from '../../../../attention/host/sequences.ts';
import type { BackwardOperands, BackwardProblem } from '../../../../attention/problem/problem.ts';
import type { Fp8Arithmetic } from '../../../../score/fp8.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import type { Kernels } from '../../../kernels/interface/kernels.ts';
import { padded } from '../../../kernels/interface/panel.ts';
import type { QueryTile } from '../../../operands/query-tile.ts';
import { createRowPanel, type RowPanel } from '../../../operands/row-panel.ts';

/**
 * The rows of forward results and of gradients of the loss that backward reads, for one tile of query rows at
 * a time.
 */
export interface DeltaRows {
  readonly dO: RowPanel;
  /**
   * Addresses of lse and of δ_i = Σ_d dO_id o_id − dLse_i, with the values that dO and o stand for, in f32.
   */
  readonly lseAt: number;
  readonly deltaAt: number;
  lse(i: number): number;
  delta(i: number): number;
  load(queries: QueryTile): void;
}

/** The rows of query tiles of at most `maxRows` rows. */
export function createDeltaRows(
  { forward: problem, dO: descDO }: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  side: SequenceSide,
  kernels: Kernels,
  maxRows: number,
  { descaleDO, descaleO }: Pick<Fp8Arithmetic, 'descaleDO' | 'descaleO'>,
): DeltaRows {
  const dO = createRowPanel(kernels, hostOperand('dO', descDO, operands, side), maxRows, true);
  const o = createRowPanel(kernels, hostOperand('o', problem.o, operands, side), maxRows, false);
  const indexOf = rowIndex(problem, side);
  const allLse = operands.lse.toFloat32();
  const allDLse = operands.dLse?.toFloat32();
  const { memory } = kernels;
  const lse = memory.floats(maxRows);
  const delta = memory.floats(maxRows);
  const dots = memory.allocate(Float64Array, maxRows);
  return {
    dO,
    lseAt: lse.at,
    deltaAt: delta.at,
    lse: i => lse.values[i],
    delta: i => delta.values[i],
    load(queries) {
      const { b, h, i0, rows } = queries;
      dO.load(queries);
      o.load(queries);
      kernels.dotRows(rows, padded(problem.Dv), dO.at, dO.ld, o.at, o.ld, dots.at);
      for (let i = 0; i < rows; i++) {
        const row = indexOf(b, h, i0 + i);
        lse.values[i] = allLse[row];
        delta.values[i] = descaleDO * descaleO * dots.values[i] - (allDLse ? allDLse[row] : 0);
      }
    },
  };
}
