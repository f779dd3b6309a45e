import type { Stationary } from '../tile.ts';

/**
 * A tile whose lanes hold some rows of one side, and stream `group` rows of the other side at a time: each of
 * `group` adjacent lanes in a subgroup reads one row and broadcasts it to the others. Uses neither workgroup
 * memory nor barriers. Subgroups may have any size of at least `group` lanes.
 */
export interface SubgroupTileShape {
  /** Marks the kind of tile in stored descriptions. */
  readonly kind: 'subgroup';
  /** The side whose rows lanes hold. */
  readonly stationary: Stationary;
  /** The number of lanes in a workgroup. */
  readonly lanes: number;
  /** The number of adjacent lanes that share the rows they read, and of rows read at a time. */
  readonly group: 4 | 8;
  /**
   * The number of rows that a lane holds. With 8, lanes read half as much for each product, but kernels take
   * longer to compile. A group of 4 requires 4 rows. Default 4.
   */
  readonly rows?: 4 | 8;
}
