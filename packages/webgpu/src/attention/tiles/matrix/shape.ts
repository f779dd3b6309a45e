import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { SubgroupMatrixConfig } from '../../../device/capabilities/subgroup-matrix-configs.ts';
import type { LaneGrid } from '../scores/score-vectors.ts';
import type { Stationary } from '../tile.ts';
import type { RowReduction } from '../tile-backend.ts';

/** The number of lanes in a subgroup that computes matrices. */
export const lanes: number = 32;

/** A tile of subgroup matrices as plain data. M, N and K each divide 16. */
export interface MatrixTileShape {
  readonly kind: 'matrix';
  /** The side whose rows subgroups hold, together with their results. */
  readonly stationary: Stationary;
  /** The number of rows that a subgroup holds; 32 only if queries are stationary. Default 16. */
  readonly heldRows?: 16 | 32;
  /** The number of subgroups in a workgroup. */
  readonly subgroups: number;
  readonly matrix: SubgroupMatrixConfig;
  /**
   * Whether kernels request subgroups of 32 lanes, on a device that has other sizes too (feature
   * `subgroup-size-control`). Default false.
   */
  readonly pinned?: boolean;
}

/** A tile of subgroup matrices in the form that its kernels are written from. */
export interface MatrixTile extends MatrixTileShape {
  readonly spelling: MatrixSpelling;
}

/** The kinds of matrices: M × K and K × N for the factors of a product, and M × N for its sums. */
export type MatrixKind = 'left' | 'right' | 'result';

/** The place of a matrix in an array of vec4s in workgroup memory. */
export interface MatrixPlace {
  readonly in: string;
  /** WGSL expression of the index of its first vec4; in `scratch`, within the subgroup's part. */
  readonly offset: string;
  /** The number of vec4s from one row (`row_major`) or column to the next. */
  readonly stride: number;
  readonly order: 'row_major' | 'col_major';
}

/**
 * How kernels write matrix operations. `subgroup` is the number of the subgroup, and `subgroup_lane` the
 * number of the lane in the subgroup.
 */
export interface MatrixSpelling {
  /** The declarations of kernels with these pools, except `scratch` and `weights`; `notes` is among them. */
  part(pools: readonly string[]): ShaderPart;
  /** Statements that declare `subgroup` and `subgroup_lane`, if the part does not declare them. */
  readonly place: string;
  /** Expression of a matrix of sums with all elements 0. */
  readonly zero: string;
  load(kind: MatrixKind, place: MatrixPlace): string;
  /** Expression of a · b + c. */
  multiplyAccumulate(a: string, b: string, c: string): string;
  /** Statement that stores a matrix to `scratch`. */
  store(matrix: string, place: MatrixPlace): string;
  /**
   * Statements that set `noted` to the bits that are set in any lane's `own`. They contain a barrier that
   * makes what lanes stored before visible.
   */
  joinNotes(own: string): string;
  /** `TileBackend.reduceRows` for rows whose lanes are adjacent in a subgroup. */
  reduceRows(grid: LaneGrid, reduction: RowReduction): string;
}
