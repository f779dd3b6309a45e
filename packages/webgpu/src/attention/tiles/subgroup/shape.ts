import type { Stationary } from '../tile.ts';

/**
 * A tile whose lanes hold some rows of one side, and stream `group` rows of the other side at a time: as many
 * neighbours in a subgroup read one row each, and broadcast it to all. Takes neither workgroup memory nor
 * barriers. Subgroups may have any size from `group` on.
 */
export interface SubgroupTileShape {
  readonly kind: 'subgroup';
  /** The side whose rows lanes hold. */
  readonly stationary: Stationary;
  readonly lanes: number;
  readonly group: 4 | 8;
  /**
   * Rows that a lane holds. With 8, lanes read half as much for each product, and compilers take longer. A
   * group of 4 has 4 rows. Default 4.
   */
  readonly rows?: 4 | 8;
}
