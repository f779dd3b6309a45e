import { type DType, dtypeInfo } from './dtype.ts';

const tables = new Map<DType, Float32Array>();

/**
 * The value of every bit pattern of an 8-bit or 16-bit float dtype (at most 256 KiB), computed at the first
 * call.
 */
export function decodeTable(dtype: DType): Float32Array {
  let table = tables.get(dtype);
  if (table === undefined) {
    const { bytes, decode } = dtypeInfo[dtype];
    table = Float32Array.from({ length: 2 ** (8 * bytes) }, (_, code) => decode(code));
    tables.set(dtype, table);
  }
  return table;
}
