import type { SubgroupMatrixConfig } from '../../../../device/capabilities/subgroup-matrix-configs.ts';

/**
 * A tile of subgroup matrices as plain data: `down` × `across` subgroups, each of which has `rows` ×
 * `columns` elements of C. M, N and K of the matrices each divide 16.
 */
export interface MatrixMatMulShape {
  readonly kind: 'matrix';
  readonly down: number;
  readonly across: number;
  /** Multiples of 16. */
  readonly rows: number;
  readonly columns: number;
  /** The number of steps of the sum that are staged at a time; a multiple of 16. */
  readonly depth: number;
  readonly matrix: SubgroupMatrixConfig;
  /**
   * Whether kernels request subgroups of 32 lanes, on a device that has other sizes too (feature
   * `subgroup-size-control`). Default false.
   */
  readonly pinned?: boolean;
}

/** The number of subgroups in a workgroup. */
export const subgroupsOf = ({ down, across }: MatrixMatMulShape): number => down * across;
