import { type BackwardProblem, dtypeTraits, elementCount, type TensorDesc } from '@tilewise/core';
import { tileSize } from '../tiles/tile.ts';
import { defaultTile } from '../tiles/tile-table.ts';

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
  /** The number of tables that are summed independently, each by one workgroup. */
  readonly copies: number;
}

/** The maximum memory for all copies together (in vectors of 8 bytes), unless a single copy needs more. */
const maxTableVectors = 2 ** 22;
const maxCopies = 256;

export function captureTable({ forward: { B, Hq, Sq, captures } }: BackwardProblem): CaptureTable {
  let first = 0;
  const floats = Object.entries(captures)
    .filter(([, { dtype }]) => dtypeTraits[dtype].kind === 'float')
    .map(([name, desc]) => {
      const own = { name, desc, first, count: elementCount(desc.shape) };
      first += own.count;
      return own;
    });
  const vectors = Math.ceil(first / 2);
  const strips = B * Hq * Math.ceil(Sq / tileSize(defaultTile.grid).rows);
  const fitting = Math.floor(maxTableVectors / Math.max(vectors, 1));
  return { captures: floats, vectors, copies: Math.max(1, Math.min(strips, maxCopies, fitting)) };
}

/** The number of vectors that the tables of a problem use in `workspace.sums`; 0 without a score mod. */
export function captureTableVectors(problem: BackwardProblem): number {
  if (!problem.forward.scoreMod) return 0;
  const { vectors, copies } = captureTable(problem);
  return vectors * copies;
}
