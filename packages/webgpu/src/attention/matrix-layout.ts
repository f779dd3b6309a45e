import type { MatrixShape } from '../kernel/matrix-shape.ts';
import type { MatrixSpelling } from './matrix-spelling.ts';
import { type MatrixTile, repeat } from './tile.ts';
import type { TileOperand } from './tile-work.ts';

/** Lanes of a subgroup with matrices. */
export const lanes: number = 32;
/** Rows that a subgroup keeps, and rows of the other side that it meets at a time. */
export const kept: number = 16;
export const met: number = 32;

/** What a tile is made of: each of M, N and K divides 16. */
export interface MatrixTileShape {
  readonly own: MatrixTile['own'];
  /** Subgroups of a workgroup. */
  readonly subgroups: number;
  readonly matrix: MatrixShape;
  /** How operations on matrices are written. Default: as Dawn has them. */
  readonly spelling?: MatrixSpelling;
}

/** Channels that pass through workgroup memory together. */
export const chunk: number = 64;

type Side = MatrixTile['own'];

/** Elements from one row in workgroup memory to the next: padded, so that rows start in different banks. */
export const poolPitch: number = chunk + 8;
export const scratchPitch: Readonly<Record<Side, number>> = { queries: met + 4, keys: kept + 4 };
export const weightsPitch: Readonly<Record<Side, number>> = { queries: met + 8, keys: kept + 8 };
/** Rows of a subgroup's scores, of which one side is kept and the other is met. */
export const scoreRows: Readonly<Record<Side, number>> = { queries: kept, keys: met };

/** Channels of a row in whole blocks of 16, which every shape of matrix divides. */
export const block: number = 16;
export const blocks = (D: number): number => Math.ceil(D / block);

export const poolRows = ({ subgroups }: MatrixTileShape): number => Math.max(kept * subgroups, met);

/** Elements of a subgroup's part of `scratch`: its scores, or 16 channels of its results. */
export const scratchSize = (tile: MatrixTileShape): number => scoreRows[tile.own] * scratchPitch[tile.own];
export const weightsSize = (tile: MatrixTileShape): number => scoreRows[tile.own] * weightsPitch[tile.own];

/** Statements that put the chunk from channel d0 on of `rows` rows into the pool. With `watch`, they look for garbage. */
export function stage(
  tile: MatrixTileShape,
  { name, row, first, end, channels }: TileOperand,
  rows: number,
  d0: number,
  watch?: string,
): string {
  return `for (var n = lane; n < ${(rows * chunk) / 4}u; n += ${lanes * tile.subgroups}u) {
      let r = n / ${chunk / 4}u;
      let d = ${d0}u + 4u * (n % ${chunk / 4}u);
      let s = ${first} + r;
      var x = vec4f();
      if (s < ${end} && d < ${channels}) {
        x = ${name}_load4(${row('s')}, d);
      }
      ${watch ? `if (${watch} && has_non_finite(x)) {\n        atomicStore(&garbage, 1u);\n      }` : ''}
      let at = r * ${poolPitch}u + 4u * (n % ${chunk / 4}u);
      ${repeat(4, e => `pool[at + ${e}u] = ${tile.matrix.component}(x[${e}]);`, '\n      ')}
    }`;
}

/** Text for each chunk of a row of D channels. */
export const perChunk = (D: number, text: (d0: number, channels: number) => string): string =>
  repeat(
    Math.ceil(D / chunk),
    c => text(c * chunk, Math.min(chunk, block * blocks(D) - c * chunk)),
    '\n    ',
  );
