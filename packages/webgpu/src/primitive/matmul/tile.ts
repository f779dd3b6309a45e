/**
 * A tile of C, worked on by a grid of tx × ty lanes. A lane accumulates `rows` × `columns` blocks of 4 × 4, which lie ty and
 * tx blocks apart, so that neighbours read neighbouring vectors. `depth` steps of the sum pass through workgroup memory at a time.
 */
export interface MatMulTile {
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
  readonly columns: number;
  /** A multiple of 4. */
  readonly depth: number;
}

export const tileM = ({ ty, rows }: MatMulTile): number => 4 * ty * rows;
export const tileN = ({ tx, columns }: MatMulTile): number => 4 * tx * columns;
export const tileLanes = ({ tx, ty }: MatMulTile): number => tx * ty;

/** Bytes of workgroup memory. */
export const workgroupTileMemory = (tile: MatMulTile): number => 4 * tile.depth * (tileM(tile) + tileN(tile));
