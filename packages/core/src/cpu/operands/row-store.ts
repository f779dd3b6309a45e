import { encoderOf } from '../../tensor/dtype/convert.ts';
import type { TypedArray } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';

/** Rows in the data of a tensor: element c of row r is at index `at + r·rowStep + c·step`. */
export interface TensorRows {
  readonly at: number;
  readonly rowStep: number;
  readonly step: number;
}

/**
 * Rounds `rows` rows of `columns` f32, from an address on and `pitch` numbers apart, to the dtype of a
 * tensor, and stores them in it.
 */
export type StoreRows = (at: number, rows: number, columns: number, pitch: number, to: TensorRows) => void;

/**
 * Makes a function that stores rows in a tensor; at most `most` numbers, gaps included, are rounded at once.
 */
export function createStoreRows(
  kernels: Kernels,
  { data, dtype }: Pick<Tensor, 'data' | 'dtype'>,
  most: number,
): StoreRows {
  const { memory } = kernels;
  const encoder = createEncoder(kernels, dtype, most);
  const own = dtype === 'f32' ? memory.addressOf(data) : -1;
  return (at, rows, columns, pitch, to) => {
    const atOnce = Math.max(1, Math.floor(encoder.most / pitch));
    for (let r = 0; r < rows; r += atOnce) {
      const count = Math.min(atOnce, rows - r);
      const first = encoder.encode(at + 4 * pitch * r, count * pitch);
      const target = { ...to, at: to.at + r * to.rowStep };
      if (own < 0) copyRows(encoder.values(), first, count, columns, pitch, data, target);
      else {
        target.at += own >>> 2;
        copyRows(memory.f32, first, count, columns, pitch, memory.f32, target);
      }
    }
  };
}

function copyRows(
  values: TypedArray,
  first: number,
  rows: number,
  columns: number,
  pitch: number,
  data: TypedArray,
  { at, rowStep, step }: TensorRows,
): void {
  const hasNoGaps = step === 1 && columns === pitch && (rows === 1 || rowStep === pitch);
  if (hasNoGaps) copy(first, rows * pitch, at);
  else {
    for (let r = 0; r < rows; r++) {
      const [from, to] = [first + r * pitch, at + r * rowStep];
      // A call costs more than copying a few elements.
      if (step === 1 && columns >= 32) copy(from, columns, to);
      else for (let c = 0; c < columns; c++) data[to + c * step] = values[from + c];
    }
  }

  function copy(from: number, count: number, to: number): void {
    // Within one array, no view is created, which would take longer than copying a row.
    if (values === data) data.copyWithin(to, from, from + count);
    else data.set(values.subarray(from, from + count), to);
  }
}

/** Converts f32 to the elements of a dtype. */
interface Encoder {
  /** The maximum number of elements that are encoded at once. */
  readonly most: number;
  /** Encodes numbers from an address on; returns the index of the first one in `values`. */
  encode(at: number, count: number): number;
  values(): TypedArray;
}

function createEncoder(kernels: Kernels, dtype: Tensor['dtype'], most: number): Encoder {
  const { memory } = kernels;
  if (dtype === 'f32') return { most: Infinity, encode: at => at >>> 2, values: () => memory.f32 };
  if (dtype === 'f16' || dtype === 'bf16') {
    const codes = memory.allocate(Uint16Array, padded(most));
    const encode = dtype === 'f16' ? kernels.encodeF16 : kernels.encodeBf16;
    return {
      most,
      encode(at, count) {
        encode(padded(count), at, codes.at);
        return 0;
      },
      values: () => codes.values,
    };
  }
  const codes = new Uint8Array(most);
  const encodeBits = encoderOf(dtype);
  return {
    most,
    encode(at, count) {
      const { i32 } = memory;
      for (let n = 0; n < count; n++) codes[n] = encodeBits(i32[(at >>> 2) + n]);
      return 0;
    },
    values: () => codes,
  };
}
