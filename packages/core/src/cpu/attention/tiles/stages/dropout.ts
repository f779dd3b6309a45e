import { required } from '../../../../attention/host/required.ts';
import { createLengths } from '../../../../attention/host/sequences.ts';
import type { AttentionProblem, BroadcastDesc, Operands } from '../../../../attention/problem/problem.ts';
import { createProblemDropout } from '../../../../score/dropout.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import { MASK_MARGIN } from '../../../kernels/interface/dropout-kernels.ts';
import type { Kernels } from '../../../kernels/interface/kernels.ts';
import { createMaskRows } from '../../../operands/broadcast-rows.ts';
import type { ScoreTile } from '../score-tile.ts';
import type { TileSize } from '../tile-size.ts';
import { createDrawMasks, type WriteMasks } from './draw-masks.ts';

/** Dropout of one tile of probabilities at a time. */
export interface DropoutTile {
  load(tile: ScoreTile): void;
  /**
   * Multiplies the weights at `source` (rows `ld` bytes apart) by the scale if they are kept, and sets the
   * others to 0, whatever they were. Writes to `target`, which may be `source`.
   */
  drop(source: number, target: number, ld: number, rows: number, columns: number): void;
}

/** The dropout of a problem, tile by tile; null if it has none. */
export function createDropoutTile(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  { rows: maxRows, columns: maxColumns }: TileSize,
): DropoutTile | null {
  const { dropout } = problem;
  if (!dropout) return null;
  const width = maxColumns + 2 * MASK_MARGIN;
  const ld = 4 * width;
  const masks = kernels.memory.allocate(Int32Array, maxRows * width);
  const at = masks.at + 4 * MASK_MARGIN;
  const drawn =
    dropout.kind === 'philox' && kernels.draws
      ? createDrawMasks(problem, dropout, createLengths(problem, operands).kv, kernels.draws)
      : null;
  const write: WriteMasks =
    dropout.kind === 'mask'
      ? givenMasks(dropout.mask, required('dropout.mask', operands.dropoutMask), kernels, problem, maxRows)
      : (drawn ?? readMasks(problem, operands, maxColumns, masks, width));
  return {
    load: tile => write(tile, at, ld),
    drop(source, target, ldWeights, rows, columns) {
      kernels.dropWeights(rows, columns, source, target, ldWeights, at, ld, dropout.scale);
    },
  };
}

/** Masks from a given keep-mask. */
function givenMasks(
  desc: BroadcastDesc,
  mask: Tensor,
  kernels: Kernels,
  { Skv }: AttentionProblem,
  maxRows: number,
): WriteMasks {
  const kept = createMaskRows(kernels, desc, mask, { rows: maxRows, Skv });
  return (tile, at, ld) => {
    const { rows, j0, columns } = tile;
    kept.select(tile, j0, j0 + columns);
    kernels.widenMasks(rows, columns, kept.at(j0), kept.ld, at, ld);
  };
}

/** Masks from the dropout decisions of the host, row by row. */
function readMasks(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  maxColumns: number,
  masks: { readonly values: Int32Array },
  width: number,
): WriteMasks {
  const { keepRow } = createProblemDropout(problem, operands);
  const kept = new Uint8Array(maxColumns);
  return ({ b, h, i0, rows, j0, columns }) => {
    const { values } = masks;
    for (let i = 0; i < rows; i++) {
      keepRow(b, h, i0 + i, j0, j0 + columns, kept, 0);
      const row = MASK_MARGIN + i * width;
      for (let j = 0; j < columns; j++) values[row + j] = -kept[j];
    }
  };
}
