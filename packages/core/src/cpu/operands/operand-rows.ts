import { createAddressing, type HostOperand } from '../../attention/host/addressing.ts';
import { decodeTable } from '../../tensor/dtype/decode-table.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { PANEL, padded } from '../kernels/interface/panel.ts';

/** Positions of an operand as rows of f32. */
export interface OperandRows {
  /** Bytes from one row to the next. */
  readonly ld: number;
  /**
   * The address of positions `from` to `to` (exclusive) of head (b, h). Up to `PANEL` rows after them may be
   * read, whose contents are undefined. The next call may overwrite the rows.
   */
  load(b: number, h: number, from: number, to: number): number;
}

/**
 * Makes the rows of an operand of any dtype and layout, at most `maxRows` positions at once. They are copied,
 * unless they are contiguous f32 in the memory of the kernels and fill whole panels.
 */
export function createOperandRows(
  { variant, memory, decodeF16, decodeBf16 }: Kernels,
  { desc, tensor, side, lists }: HostOperand,
  maxRows: number,
): OperandRows {
  const { data, stride, rowStride, rowOffset } = createAddressing(desc, tensor, side, lists);
  const { dtype, shape } = desc;
  const D = shape[3];
  const width = padded(D);
  const isF32 = data instanceof Float32Array;
  const own = memory.addressOf(data);
  if (
    isF32 &&
    stride === 1 &&
    width === D &&
    own >= 0 &&
    rowStride &&
    own + data.byteLength + 4 * PANEL * rowStride <= memory.bytes
  )
    return { ld: 4 * rowStride, load: (b, h, from) => own + 4 * rowOffset(b, h, from) };

  const { at } = memory.floats(padded(maxRows) * width);
  const decode = dtype === 'f16' ? decodeF16 : decodeBf16;
  const codes =
    data instanceof Uint16Array && variant !== 'typescript'
      ? memory.allocate(Uint16Array, maxRows * width)
      : null;
  const table = isF32 || codes ? null : decodeTable(dtype);
  const isInLine = !table && stride === 1;
  return {
    ld: 4 * width,
    load(b, h, from, to) {
      const out = codes ? codes.values : memory.f32;
      let row = codes ? 0 : at >>> 2;
      // Rows that follow each other are one line.
      const atOnce = isInLine && width === D && rowStride === D ? to - from : 1;
      for (let s = from; s < to; s += atOnce, row += width) {
        const source = rowOffset(b, h, s);
        if (isInLine) out.set(data.subarray(source, source + atOnce * D), row);
        else {
          for (let d = 0; d < D; d++) {
            const stored = data[source + d * stride];
            out[row + d] = table ? table[stored] : stored;
          }
        }
      }
      if (codes) decode((to - from) * width, codes.at, at);
      return at;
    },
  };
}
