import type { Addressing } from '../attention/addressing.ts';
import { decodeTable } from '../tensor/decode-table.ts';
import type { DType } from '../tensor/dtype.ts';

/**
 * Copies positions `from` to `to` (exclusive) of head (b, h) to a panel: element (s, d) goes to
 * `out[at + (s − from)·rowStep + d·columnStep]`. Gives whether all of them are finite.
 */
export type Unpack = (
  b: number,
  h: number,
  from: number,
  to: number,
  out: Float32Array,
  at: number,
  rowStep: number,
  columnStep: number,
) => boolean;

/**
 * How an operand with head size D is unpacked to f32, whatever its dtype and layout. The loop stands here twice, so that
 * neither of them asks for each element whether there is a table.
 */
export function createUnpack(addressing: Addressing, dtype: DType, D: number): Unpack {
  const { data, stride } = addressing;
  if (data instanceof Float32Array) {
    return (b, h, from, to, out, at, rowStep, columnStep) => {
      // 0·x is 0 for a finite x and NaN for every other.
      let zero = 0;
      for (let s = from; s < to; s++) {
        const source = addressing.rowOffset(b, h, s);
        const target = at + (s - from) * rowStep;
        for (let d = 0; d < D; d++) {
          const x = data[source + d * stride];
          zero += 0 * x;
          out[target + d * columnStep] = x;
        }
      }
      return zero === 0;
    };
  }
  const table = decodeTable(dtype);
  return (b, h, from, to, out, at, rowStep, columnStep) => {
    let zero = 0;
    for (let s = from; s < to; s++) {
      const source = addressing.rowOffset(b, h, s);
      const target = at + (s - from) * rowStep;
      for (let d = 0; d < D; d++) {
        const x = table[data[source + d * stride]];
        zero += 0 * x;
        out[target + d * columnStep] = x;
      }
    }
    return zero === 0;
  };
}
