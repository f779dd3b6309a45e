import { decodeTable } from '../../tensor/dtype/decode-table.ts';
import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';

/**
 * Copies `count` stored elements, from index `source` on and `step` apart, as contiguous f32 to an address.
 * Up to 7 numbers after them are overwritten.
 */
export type LoadLine = (source: number, step: number, count: number, target: number) => void;

/** Makes a function that reads lines of at most `longest` elements of a tensor of any dtype as f32. */
export function createLoadLine(
  { variant, memory, decodeF16, decodeBf16 }: Kernels,
  { data, dtype }: Pick<Tensor, 'data' | 'dtype'>,
  longest: number,
): LoadLine {
  const { kind, bytes } = dtypeInfo[dtype];
  if (data instanceof Uint16Array && variant !== 'typescript') {
    const decode = dtype === 'f16' ? decodeF16 : decodeBf16;
    const codes = memory.allocate(Uint16Array, padded(longest));
    return (source, step, count, target) => {
      copyLine(data, source, step, count, codes.values, 0);
      decode(padded(count), codes.at, target);
    };
  }
  if (kind === 'float' && bytes < 4) {
    const table = decodeTable(dtype);
    return (source, step, count, target) => {
      const { f32 } = memory;
      for (let n = 0; n < count; n++) f32[(target >>> 2) + n] = table[data[source + n * step]];
    };
  }
  return (source, step, count, target) => copyLine(data, source, step, count, memory.f32, target >>> 2);
}

/** Copies elements that are `step` apart to contiguous memory. */
export function copyLine(
  data: Tensor['data'],
  source: number,
  step: number,
  count: number,
  out: Float32Array | Uint16Array | Uint8Array,
  to: number,
): void {
  if (step === 1) out.set(data.subarray(source, source + count), to);
  else if (step === 0) out.fill(data[source], to, to + count);
  else for (let n = 0; n < count; n++) out[to + n] = data[source + n * step];
}
