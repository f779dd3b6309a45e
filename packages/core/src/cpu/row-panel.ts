import { type Kernels, padded } from './kernels.ts';
import type { Unpack } from './unpack.ts';

/** One tile of query rows of an operand (q, o, dO) as a row-major f32 panel. */
export interface RowPanel {
  /** Element (i, d) of the loaded tile is `data[i·ld + d]`. */
  readonly data: Float32Array;
  /** The head size, padded to a multiple of 4 with zeros. */
  readonly ld: number;
  /** Loads `count` rows from row i0 of head (b, h). */
  load(b: number, h: number, i0: number, count: number): void;
  /** Whether all elements of the loaded tile are finite. */
  isFinite(): boolean;
}

/** A panel for tiles of at most `rows` rows of head size D. */
export function createRowPanel(kernels: Kernels, unpack: Unpack, rows: number, D: number): RowPanel {
  const ld = padded(D);
  const data = kernels.allocate(rows * ld);
  let finite = true;
  return {
    data,
    ld,
    load(b, h, i0, count) {
      finite = unpack(b, h, i0, i0 + count, data, 0, ld, 1);
    },
    isFinite: () => finite,
  };
}
