import { createAddressing, placementLists } from '../attention/addressing.ts';
import type { SequenceSide } from '../attention/lengths.ts';
import type { BackwardOperands } from '../attention/normalise.ts';
import type { BackwardProblem } from '../attention/problem.ts';
import { rowIndex } from '../attention/result-layout.ts';
import type { Fp8Arithmetic } from '../score/fp8.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { Kernels } from './kernels.ts';
import { createRowPanel, type RowPanel } from './row-panel.ts';
import { createUnpack } from './unpack.ts';

/** What backward takes from the forward pass and from the loss, for one tile of query rows at a time. */
export interface RowGradients {
  readonly dO: RowPanel;
  readonly lse: Float64Array;
  /** δ_i = Σ_d dO_id o_id − dLse_i, of what dO and o mean */
  readonly delta: Float64Array;
  load(b: number, h: number, i0: number, rows: number): void;
}

/** Row gradients for tiles of at most `maxRows` rows. */
export function createRowGradients(
  { forward: problem, dO: descDO }: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  side: SequenceSide,
  kernels: Kernels,
  maxRows: number,
  { descaleDO, descaleO }: Pick<Fp8Arithmetic, 'descaleDO' | 'descaleO'>,
): RowGradients {
  const { Dv } = problem;
  const panel = (name: 'o' | 'dO', desc: typeof descDO): RowPanel => {
    const addressing = createAddressing(desc, operands[name], side, placementLists(name, operands));
    return createRowPanel(kernels, createUnpack(addressing, desc.dtype, Dv), maxRows, Dv);
  };
  const dO = panel('dO', descDO);
  const o = panel('o', problem.o);
  const place = rowIndex(problem, side);
  const allLse = operands.lse.toFloat32();
  const allDLse = operands.dLse?.toFloat32();
  const lse = new Float64Array(maxRows);
  const delta = new Float64Array(maxRows);
  return {
    dO,
    lse,
    delta,
    load(b, h, i0, rows) {
      dO.load(b, h, i0, rows);
      o.load(b, h, i0, rows);
      for (let i = 0; i < rows; i++) {
        const row = place(b, h, i0 + i);
        lse[i] = allLse[row];
        let sum = 0;
        for (let at = i * o.ld; at < i * o.ld + Dv; at++) sum += dO.data[at] * o.data[at];
        delta[i] = descaleDO * descaleO * sum - (allDLse ? allDLse[row] : 0);
      }
    },
  };
}
