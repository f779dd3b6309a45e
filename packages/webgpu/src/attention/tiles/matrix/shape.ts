import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { SubgroupMatrixConfig } from '../../../device/capabilities/subgroup-matrix-configs.ts';
import type { LaneGrid, Stationary } from '../tile.ts';
import type { RowReduction } from '../tile-backend.ts';

/** Lanes of a subgroup with matrices. */
export const lanes: number = 32;

/** A tile of subgroup matrices as plain data. Each of M, N and K divides 16. */
export interface MatrixTileShape {
  readonly kind: 'matrix';
  /** The side whose rows subgroups hold: 16 rows each, with their results. */
  readonly stationary: Stationary;
  /** Subgroups of a workgroup. */
  readonly subgroups: number;
  readonly matrix: SubgroupMatrixConfig;
  /**
   * Whether kernels ask for subgroups of 32 lanes, on a device that has other sizes too (feature
   * `subgroup-size-control`). Default false.
   */
  readonly pinned?: boolean;
}

/** A tile of matrices as its kernels are written. */
export interface MatrixTile extends MatrixTileShape {
  readonly spelling: MatrixSpelling;
}

/** M × K, K × N, and M × N: the matrices of a product and of its sums. */
export type MatrixKind = 'left' | 'right' | 'result';

/** Where a matrix lies in an array of vec4s in workgroup memory. */
export interface MatrixPlace {
  readonly in: string;
  /** WGSL expression of the first vec4. */
  readonly offset: string;
  /** vec4s from one row (`row_major`), or column, to the next. */
  readonly stride: number;
  readonly order: 'row_major' | 'col_major';
}

/**
 * How kernels write operations on matrices; `subgroup` and `subgroup_lane` are the numbers of the subgroup
 * and of the lane in it.
 */
export interface MatrixSpelling {
  /** The declarations of kernels with these pools, besides `scratch` and `weights`. */
  part(pools: readonly string[]): ShaderPart;
  /** Statements that declare `subgroup` and `subgroup_lane`, if the part does not. */
  readonly place: string;
  /** Expression: a matrix of sums, all 0. */
  readonly zero: string;
  load(kind: MatrixKind, place: MatrixPlace): string;
  /** Expression: a · b + c. */
  multiplyAccumulate(a: string, b: string, c: string): string;
  /** Statement: stores to `scratch`. */
  store(matrix: string, place: MatrixPlace): string;
  /** `TileBackend.reduceRows` for rows whose lanes are neighbours in a subgroup. */
  reduceRows(grid: LaneGrid, reduction: RowReduction): string;
}
