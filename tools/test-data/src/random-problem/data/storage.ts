/** How a dtype stores a number. */
interface Storage {
  readonly allocate: (length: number) => StoredArray;
  readonly encode: (x: number) => number;
  /** The nearest number that the dtype holds exactly, either 0 or a normal number. */
  readonly round: (x: number) => number;
}

export type StoredArray = Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

export type DataType = 'f32' | 'f16' | 'bf16' | 'f8e4m3' | 'f8e5m2' | 'i32' | 'u32' | 'u8' | 'bool';

const integer = (allocate: (length: number) => StoredArray): Storage => ({
  allocate,
  encode: x => x,
  round: Math.round,
});

/** Written independently, so that the packages' conversions are not tested with themselves. */
function float(
  allocate: (length: number) => StoredArray,
  exponentBits: number,
  significandBits: number,
  infinity: number | null,
): Storage {
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = 1 << (exponentBits + significandBits);
  return {
    allocate,
    round(x) {
      const step = 2 ** (exponentOf(x) - significandBits);
      const rounded = x === 0 ? 0 : Math.round(x / step) * step;
      return Math.abs(rounded) < 2 ** (1 - bias) ? 0 : rounded;
    },
    encode(x) {
      if (Number.isNaN(x)) return sign - 1;
      if (x === 0) return 0;
      const negative = x < 0 ? sign : 0;
      if (!Number.isFinite(x)) return infinity === null ? sign - 1 : negative | infinity;
      const exponent = exponentOf(x);
      const fraction = Math.abs(x) / 2 ** exponent - 1;
      return negative | ((exponent + bias) << significandBits) | Math.round(fraction * 2 ** significandBits);
    },
  };
}

const float64 = new Float64Array(1);
const words = new Uint32Array(float64.buffer);

/** The exponent of the largest power of two that is at most |x|, for normal numbers. */
function exponentOf(x: number): number {
  float64[0] = x;
  return ((words[1] >>> 20) & 0x7ff) - 1023;
}

/** The storage of each dtype, by name. A new dtype takes one line. */
export const storages: Readonly<Record<DataType, Storage>> = {
  f32: { allocate: n => new Float32Array(n), encode: x => x, round: Math.fround },
  f16: float(n => new Uint16Array(n), 5, 10, 0x7c00),
  bf16: float(n => new Uint16Array(n), 8, 7, 0x7f80),
  f8e4m3: float(n => new Uint8Array(n), 4, 3, null),
  f8e5m2: float(n => new Uint8Array(n), 5, 2, 0x7c),
  i32: integer(n => new Int32Array(n)),
  u32: integer(n => new Uint32Array(n)),
  u8: integer(n => new Uint8Array(n)),
  bool: integer(n => new Uint8Array(n)),
};
