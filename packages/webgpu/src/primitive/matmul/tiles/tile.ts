/** A tile of C, worked on by one workgroup. */
export type MatMulTile = WorkgroupTile | SubgroupTile;

/**
 * A grid of tx × ty lanes. A lane accumulates `rows` × `columns` blocks of 4 × 4, which lie ty and tx blocks apart, so that
 * neighbours read neighbouring vectors. `depth` steps of the sum pass through workgroup memory at a time.
 */
export interface WorkgroupTile {
  readonly through?: 'workgroup';
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
  readonly columns: number;
  /** A multiple of 4. */
  readonly depth: number;
}

/**
 * Lanes below each other, each with a block of 4 × 4 in all of the `columns`. A lane reads its own rows of A, and of B one
 * in `group` of the vectors of four steps of the sum, which it broadcasts to its neighbours. Takes neither workgroup memory nor
 * barriers. Subgroups may have any size from `group` on.
 */
export interface SubgroupTile {
  readonly through: 'subgroup';
  readonly lanes: number;
  /** A multiple of group / 4. */
  readonly columns: number;
  readonly group: 4 | 8;
}

export const tileM = (tile: MatMulTile): number =>
  4 * (tile.through === 'subgroup' ? tile.lanes : tile.ty * tile.rows);
export const tileN = (tile: MatMulTile): number =>
  4 * (tile.through === 'subgroup' ? tile.columns : tile.tx * tile.columns);
export const tileLanes = (tile: MatMulTile): number =>
  tile.through === 'subgroup' ? tile.lanes : tile.tx * tile.ty;
/** Steps of the sum that are done together. */
export const tileDepth = (tile: MatMulTile): number => (tile.through === 'subgroup' ? 4 : tile.depth);
