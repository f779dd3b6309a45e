import type { DType } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';

/** The codes of dtypes in `LineProductKernels`. */
export const storageCodes: Readonly<Partial<Record<DType, number>>> = { f32: 0, f16: 1, bf16: 2 };

/** The bytes that are copied to the kernels' memory at once, few enough to stay in a near cache. */
const STAGED = 2 ** 16;

/** Lines of elements in the kernels' memory, in their storage dtype. */
export interface StoredLines {
  readonly atOnce: number;
  /** Bytes from one line to the next. */
  readonly ld: number;
  /**
   * The address of `count` lines, from an element of the tensor's data on. Invalidates the lines of the
   * previous call.
   */
  at(from: number, count: number): number;
}

/** At most `count` lines of `width` elements, `distance` apart: in place, or copied a few at a time. */
export function createStoredLines(
  { memory }: Kernels,
  { data }: Pick<Tensor, 'data'>,
  { count, width, distance }: { readonly count: number; readonly width: number; readonly distance: number },
): StoredLines {
  const bytes = data.BYTES_PER_ELEMENT;
  const own = memory.addressOf(data);
  if (own >= 0) return { atOnce: count, ld: distance * bytes, at: from => own + from * bytes };
  const atOnce = Math.min(count, Math.max(4, Math.floor(STAGED / Math.max(width * bytes, 1) / 4) * 4));
  const ld = width * bytes;
  const staged = memory.allocate(Uint8Array, atOnce * ld + 16).at;
  const stored = (from: number, length: number): Uint8Array =>
    new Uint8Array(data.buffer, data.byteOffset + from * bytes, length * bytes);
  return {
    ...{ atOnce, ld },
    at(from, some) {
      const { u8 } = memory;
      if (distance === width) u8.set(stored(from, some * width), staged);
      else for (let r = 0; r < some; r++) u8.set(stored(from + r * distance, width), staged + r * ld);
      return staged;
    },
  };
}
