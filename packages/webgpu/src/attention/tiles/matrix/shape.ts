import type { MatrixInstructions } from '../../../codegen/matrices/matrix-operations.ts';
import type { SubgroupMatrixConfig } from '../../../device/capabilities/subgroup-matrix-configs.ts';
import type { RowReduction } from '../interface/tile-backend.ts';
import type { LaneGrid } from '../scores/score-vectors.ts';
import type { Stationary } from '../tile.ts';

/** A tile of subgroup matrices as plain data. M, N and K each divide 16. */
export interface MatrixTileShape {
  /** Marks the kind of tile in stored descriptions. */
  readonly kind: 'matrix';
  /** The side whose rows subgroups hold, together with their results. */
  readonly stationary: Stationary;
  /** The number of rows that a subgroup holds; 32 only if queries are stationary. Default 16. */
  readonly heldRows?: 16 | 32;
  /** The number of subgroups in a workgroup. */
  readonly subgroups: number;
  /** The matrices that the tile multiplies, one of the device's `capabilities.subgroupMatrixConfigs`. */
  readonly matrix: SubgroupMatrixConfig;
  /**
   * Whether kernels request subgroups of 32 lanes, on a device that has other sizes too (feature
   * `subgroup-size-control`). Default false.
   */
  readonly pinned?: boolean;
}

/** A tile of subgroup matrices in the form that its kernels are written from. */
export interface MatrixTile extends MatrixTileShape {
  readonly instructions: AttentionMatrixInstructions;
}

/**
 * How attention kernels write matrix operations. `part` declares `shared_flags`, but not the arrays.
 */
export interface AttentionMatrixInstructions extends MatrixInstructions {
  /**
   * Statements that set `flags` to the bits that are set in any lane's `own`. They contain a barrier, which
   * makes earlier stores of all lanes visible.
   */
  combineFlags(own: string): string;
  /** `TileBackend.reduceRows` for rows whose lanes are adjacent in a subgroup. */
  reduceRows(grid: LaneGrid, reduction: RowReduction): string;
}
