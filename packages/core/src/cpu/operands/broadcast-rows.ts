import type { BroadcastDesc } from '../../attention/problem/problem.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';
import { copyLine, createLoadLine, type LoadLine } from './load-line.ts';
import type { QueryTile } from './query-tile.ts';

/**
 * The rows of a bias or mask, broadcast to (B, Hq, Sq, Skv), for the queries of a tile; stored in the
 * kernels' memory.
 */
export interface BroadcastRows {
  /** The address of the first row's element for key j. */
  at(j: number): number;
  /** Bytes between rows; 0 if one row serves all queries. */
  readonly ld: number;
  /** Selects a tile of queries, and the keys `first` ≤ j < `end`. */
  select(queries: QueryTile, first: number, end: number): void;
}

/** The size of the rows: for tiles of at most `rows` queries, and Skv keys. */
interface RowsSize {
  readonly rows: number;
  readonly Skv: number;
}

/** Rows of a mask as bytes, 0 for hidden pairs. */
export function createMaskRows(
  { memory }: Kernels,
  desc: BroadcastDesc,
  { data, offset }: Tensor,
  size: RowsSize,
): BroadcastRows {
  const bytes = memory.allocate(Uint8Array, elementsHeld(desc, size));
  return createRows(desc, offset, size, bytes.at, 1, (source, step, count, target) =>
    copyLine(data, source, step, count, memory.u8, target),
  );
}

/** Rows of a bias in f32, whatever its dtype. */
export function createBiasRows(
  kernels: Kernels,
  desc: BroadcastDesc,
  bias: Tensor,
  size: RowsSize,
): BroadcastRows {
  const { at } = kernels.memory.floats(elementsHeld(desc, size));
  return createRows(desc, bias.offset, size, at, 4, createLoadLine(kernels, bias, size.Skv));
}

function createRows(
  { strides: [sb, sh, si, sj] }: BroadcastDesc,
  offset: number,
  { Skv }: RowsSize,
  at: number,
  bytes: number,
  load: LoadLine,
): BroadcastRows {
  const ld = si === 0 ? 0 : padded(Skv) * bytes;
  return {
    at: j => at + j * bytes,
    ld,
    select({ b, h, i0, rows }, first, end) {
      if (first >= end) return;
      const count = si === 0 ? 1 : rows;
      const source = offset + b * sb + h * sh + i0 * si + first * sj;
      for (let r = 0; r < count; r++) load(source + r * si, sj, end - first, at + r * ld + first * bytes);
    },
  };
}

/** The number of elements, including those that loading a line may write beyond its end. */
function elementsHeld({ strides: [, , si] }: BroadcastDesc, { rows, Skv }: RowsSize): number {
  return (si === 0 ? 1 : rows) * padded(Skv) + 8;
}
