import type { BroadcastDesc } from '../attention/problem.ts';
import { decodeTable } from '../tensor/decode-table.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type Kernels, padded } from './kernels/kernels.ts';

/** The rows of a bias or mask, broadcast to (B, Hq, Sq, Skv), that belong to the queries of a tile: in the kernels' memory. */
export interface BroadcastRows {
  /** Address of what the first row has for key j. */
  at(j: number): number;
  /** Bytes between rows; 0 where one serves all queries. */
  readonly ld: number;
  /** Turns to `rows` queries from i0 of head h of sequence b, and to the keys `first` ≤ j < `end`. */
  select(b: number, h: number, i0: number, rows: number, first: number, end: number): void;
}

/** How large the rows are: for tiles of at most `rows` queries, and Skv keys. */
interface RowsSize {
  readonly rows: number;
  readonly Skv: number;
}

/** Rows of a mask as bytes: 0 where it is false. */
export function createMaskRows(
  { memory }: Kernels,
  desc: BroadcastDesc,
  { data, offset }: Tensor,
  { rows, Skv }: RowsSize,
): BroadcastRows {
  const width = padded(Skv);
  const bytes = memory.allocate(Uint8Array, rowsHeld(desc, rows) * width);
  return createRows(desc, offset, { at: bytes.at, bytes: 1, width }, (source, step, count, to) =>
    copyLine(data, source, step, count, bytes.values, to),
  );
}

/** Rows of a bias in f32, whatever its dtype. */
export function createBiasRows(
  { memory, decodeF16, decodeBf16, ...kernels }: Kernels,
  desc: BroadcastDesc,
  { data, offset }: Tensor,
  { rows, Skv }: RowsSize,
): BroadcastRows {
  const width = padded(Skv);
  const held = rowsHeld(desc, rows) * width;
  const floats = memory.floats(held);
  const place = { at: floats.at, bytes: 4, width };
  if (data instanceof Float32Array) {
    return createRows(desc, offset, place, (source, step, count, to) =>
      copyLine(data, source, step, count, floats.values, to),
    );
  }
  if (data instanceof Uint16Array && kernels.variant !== 'typescript') {
    const decode = desc.dtype === 'f16' ? decodeF16 : decodeBf16;
    const codes = memory.allocate(Uint16Array, held);
    return createRows(desc, offset, place, (source, step, count, to) => {
      copyLine(data, source, step, count, codes.values, to);
      const from = to - (to % 8);
      decode(padded(to + count - from), codes.at + 2 * from, floats.at + 4 * from);
    });
  }
  const table = decodeTable(desc.dtype);
  return createRows(desc, offset, place, (source, step, count, to) => {
    const { values } = floats;
    for (let n = 0; n < count; n++) values[to + n] = table[data[source + n * step]];
  });
}

/** Copies `count` elements that are `step` apart to where a row is held. */
type CopyLine = (source: number, step: number, count: number, to: number) => void;

function createRows(
  { strides: [sb, sh, si, sj] }: BroadcastDesc,
  offset: number,
  { at, bytes, width }: { readonly at: number; readonly bytes: number; readonly width: number },
  copy: CopyLine,
): BroadcastRows {
  return {
    at: j => at + j * bytes,
    ld: si === 0 ? 0 : width * bytes,
    select(b, h, i0, rows, first, end) {
      const count = si === 0 ? 1 : rows;
      for (let r = 0; r < count && first < end; r++) {
        const source = offset + b * sb + h * sh + (i0 + r) * si + first * sj;
        copy(source, sj, end - first, r * width + first);
      }
    },
  };
}

function rowsHeld({ strides: [, , si] }: BroadcastDesc, rows: number): number {
  return si === 0 ? 1 : rows;
}

function copyLine<A extends Float32Array | Uint16Array | Uint8Array>(
  data: Tensor['data'],
  source: number,
  step: number,
  count: number,
  out: A,
  to: number,
): void {
  if (step === 1) out.set(data.subarray(source, source + count), to);
  else for (let n = 0; n < count; n++) out[to + n] = data[source + n * step];
}
