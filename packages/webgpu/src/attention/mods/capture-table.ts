import { type BackwardProblem, elementCount, type TensorDesc } from '@tilewise/core';
import { dtypeTraits } from '@tilewise/core/engine';
import { type Tile, tileSize } from '../tiles/tile.ts';

/** The gradient of a captured tensor, as a part of a table. */
export interface CapturedFloats {
  readonly name: string;
  readonly desc: TensorDesc;
  /** The index of its first element in the table, and the number of its elements. */
  readonly first: number;
  readonly count: number;
}

/**
 * A table of the gradients of all captured floats of a problem, one row-major tensor after the other; a
 * vector of the table holds two floats.
 */
export interface CaptureTable {
  readonly captures: readonly CapturedFloats[];
  readonly vectors: number;
  /** The number of workgroups. */
  readonly groups: number;
  /** The number of tables of a workgroup, of which an equal number of lanes each adds to one. */
  readonly tables: number;
}

/** The maximum memory for all tables together (in vectors of 8 bytes), unless a single table needs more. */
const maxTableVectors = 2 ** 22;
const maxGroups = 256;
/**
 * The maximum number of tables of a workgroup. With more tables, lanes look at fewer pairs of other lanes,
 * but more tables must be added at the end.
 */
const maxTables = 16;

export function captureTable({ forward }: BackwardProblem, tile: Tile): CaptureTable {
  const { B, Hq, Sq, captures } = forward;
  let first = 0;
  const floats = Object.entries(captures)
    .filter(([, { dtype }]) => dtypeTraits[dtype].kind === 'float')
    .map(([name, desc]) => {
      const own = { name, desc, first, count: elementCount(desc.shape) };
      first += own.count;
      return own;
    });
  const vectors = Math.ceil(first / 2);
  const { rows, lanes } = tileSize(tile.grid);
  const strips = B * Hq * Math.ceil(Sq / rows);
  const fitting = Math.floor(maxTableVectors / Math.max(vectors, 1));
  const groups = Math.max(1, Math.min(strips, maxGroups, fitting));
  let tables = 1;
  while (2 * tables * groups <= fitting && 2 * tables <= maxTables && lanes % (2 * tables) === 0) tables *= 2;
  return { captures: floats, vectors, groups, tables };
}

/** The number of vectors that the tables of a problem use in `workspace.sums`; 0 without a score mod. */
export function captureTableVectors(problem: BackwardProblem, tile: Tile): number {
  if (!problem.forward.scoreMod) return 0;
  const { vectors, groups, tables } = captureTable(problem, tile);
  return vectors * groups * tables;
}
