import { repeat } from '../../../codegen/text.ts';
import type { MatMulBackend, MatMulTile } from './tile.ts';

/** The blocks of 4 × 4 that a lane accumulates. */
export interface LaneBlocks {
  readonly rows: number;
  readonly columns: number;
  /** The position in the tile, in blocks, of a lane's block row r or block column c. */
  readonly row: (r: number) => string;
  readonly column: (c: number) => string;
}

/** Declares `inside`: whether the whole tile of a workgroup is within the matrices. */
export const declareInside = ({ M, N }: Pick<MatMulTile, 'M' | 'N'>): string =>
  `let inside = m0 + ${M}u <= P.M && n0 + ${N}u <= P.N;`;

/** The accumulators `cR_C` of a lane: a vec4f for each of its rows R and block columns C. */
export const laneBlocks = ({
  rows,
  columns,
  row,
  column,
}: LaneBlocks): Pick<MatMulBackend, 'accumulators' | 'results'> => ({
  accumulators: repeat(4 * rows, r => repeat(columns, c => `var c${r}_${c} = vec4f();`)),
  results: store =>
    repeat(
      4 * rows,
      r => `let row${r} = m0 + 4u * (${row(r >> 2)}) + ${r & 3}u;
  if (row${r} < P.M) {
    ${repeat(columns, c => store(`row${r}`, `n0 + 4u * (${column(c)})`, `c${r}_${c}`))}
  }`,
    ),
});
