import type { AttentionProblem, Operands } from '../attention/problem.ts';
import { createProblemDropout } from '../score/dropout.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { TileSize } from './tile-size.ts';

/** Dropout of one tile of probabilities at a time. */
export interface KeepTile {
  /** Factor of the kept ones. */
  readonly scale: number;
  /** 1 = kept; row i and key j of the loaded tile at `data[i·ld + j]`. */
  readonly data: Uint8Array;
  readonly ld: number;
  load(b: number, h: number, i0: number, rows: number, j0: number, columns: number): void;
  /** Multiplies weights (rows `ldWeights` apart) by the scale where they are kept, and sets the others to 0. */
  drop(weights: Float32Array, ldWeights: number, rows: number, columns: number): void;
}

/** The dropout of a problem tile by tile, null when it has none. */
export function createKeepTile(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  { rows: maxRows, columns: ld }: TileSize,
): KeepTile | null {
  if (!problem.dropout) return null;
  const { keepRow } = createProblemDropout(problem, operands);
  const { scale } = problem.dropout;
  const data = new Uint8Array(maxRows * ld);
  return {
    scale,
    data,
    ld,
    load(b, h, i0, rows, j0, columns) {
      for (let i = 0; i < rows; i++) keepRow(b, h, i0 + i, j0, j0 + columns, data, i * ld);
    },
    drop(weights, ldWeights, rows, columns) {
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) {
          const at = i * ldWeights + j;
          weights[at] = data[i * ld + j] === 0 ? 0 : scale * weights[at];
        }
      }
    },
  };
}
