import type { DType } from '@tilewise/core';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import type { Side } from '../operands/matrix-blocks.ts';

/** A tile of C, M × N, which one workgroup of `lanes` lanes computes. */
export interface MatMulTile {
  readonly lanes: number;
  readonly M: number;
  readonly N: number;
  /** The number of steps of the sum that are computed together. */
  readonly depth: number;
  /** Workgroup variables, and what all terms of a sum of products share. */
  readonly parts: readonly ShaderPart[];
  /** How the lanes multiply two operands. */
  backend(a: Side, b: Side): MatMulBackend;
}

/** How the lanes of a tile multiply, as WGSL. */
export interface MatMulBackend {
  readonly parts: readonly ShaderPart[];
  /** Statements that declare a lane's coordinates in the tile, which starts at m0 and n0. */
  readonly lane: string;
  /** Statements that declare the accumulators. */
  readonly accumulators: string;
  /**
   * Statements that add the products of steps k_begin to k_end of the sum to the accumulators. The matrices
   * start at a_at and b_at.
   */
  readonly sum: string;
  /** Statements that store the accumulators, four elements of a row at a time. */
  readonly results: (store: StoreFour) => string;
}

/** Makes a statement that stores the vec4f `x` as elements n…n+3 of a row, as far as they are within C. */
export type StoreFour = (row: string, n: string, x: string) => string;

/** The size of a product. */
export interface MatMulSize {
  readonly M: number;
  readonly N: number;
  readonly K: number;
  /** The number of matrices. */
  readonly count: number;
}

/**
 * How the sum is divided: among `count` workgroups, each of which has `depth` steps (the last has the rest).
 */
export interface SumParts {
  readonly count: number;
  readonly depth: number;
}

/** The number of workgroups that a product of this size has. */
export const groupsOf = ({ M, N, count }: MatMulSize, tile: Pick<MatMulTile, 'M' | 'N'>): number =>
  count * Math.ceil(M / tile.M) * Math.ceil(N / tile.N);

/**
 * The largest number of rows of a product that is computed with flat tiles: others would be mostly empty.
 * Products of so few columns are computed as their transposes.
 */
export const fewRows = 16;

/** The number of workgroups that keeps a large GPU busy. */
export const enoughGroups = 64;

/**
 * Chooses a tile for operands of these dtypes, given the tile of the built-in table; null if it has none for
 * them.
 */
export type MatMulTileSelector = (
  size: MatMulSize,
  operands: readonly DType[],
  capabilities: Capabilities,
  table: MatMulTile,
) => MatMulTile | null;
