import { type Addressing, createAddressing, type HostOperand } from '../../attention/host/addressing.ts';
import { decodeTable } from '../../tensor/dtype/decode-table.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';

/**
 * Copies positions `from` to `to` (exclusive) of head (b, h) to row-major f32 at an address, in rows that are
 * `padded(D)` numbers apart.
 */
export type Unpack = (b: number, h: number, from: number, to: number, target: number) => void;

/**
 * Makes a function that unpacks an operand of any dtype and layout to f32, at most `maxRows` positions at
 * once. It does not write the padding columns of a row.
 */
export function createUnpack(
  { variant, memory, decodeF16, decodeBf16 }: Kernels,
  { desc, tensor, side, lists }: HostOperand,
  maxRows: number,
): Unpack {
  const addressing = createAddressing(desc, tensor, side, lists);
  const { data } = addressing;
  const { dtype, shape } = desc;
  const D = shape[3];
  const ld = padded(D);
  if (data instanceof Float32Array) {
    return (b, h, from, to, target) =>
      copyRows(addressing, data, D, b, h, from, to, memory.f32, target >>> 2);
  }
  if (data instanceof Uint16Array && variant !== 'typescript') {
    const decode = dtype === 'f16' ? decodeF16 : decodeBf16;
    const codes = memory.allocate(Uint16Array, maxRows * ld);
    return (b, h, from, to, target) => {
      copyRows(addressing, data, D, b, h, from, to, codes.values, 0);
      decode((to - from) * ld, codes.at, target);
    };
  }
  const table = decodeTable(dtype);
  return (b, h, from, to, target) => {
    const { f32 } = memory;
    const { stride } = addressing;
    for (let s = from; s < to; s++) {
      const source = addressing.rowOffset(b, h, s);
      const row = (target >>> 2) + (s - from) * ld;
      for (let d = 0; d < D; d++) f32[row + d] = table[data[source + d * stride]];
    }
  };
}

function copyRows<A extends Float32Array | Uint16Array>(
  addressing: Addressing,
  data: A,
  D: number,
  b: number,
  h: number,
  from: number,
  to: number,
  out: A,
  at: number,
): void {
  const { stride } = addressing;
  const ld = padded(D);
  if (stride === 1 && ld === D && addressing.rowStride === D) {
    const first = addressing.rowOffset(b, h, from);
    out.set(data.subarray(first, first + (to - from) * D), at);
    return;
  }
  for (let s = from; s < to; s++) {
    const source = addressing.rowOffset(b, h, s);
    const row = at + (s - from) * ld;
    for (let d = 0; d < D; d++) out[row + d] = data[source + d * stride];
  }
}
