import type { DType } from '@tilewise/core';
import type { WgslPiece } from '@tilewise/philox/wgsl';
import { encodeBf16, encodeF16 } from './float-bits.ts';

/**
 * How a float dtype lies in storage buffers and becomes f32. Core WebGPU has no 16-bit types, so f16 and bf16 are read
 * out of u32 words; `shader-f16` is not needed.
 */
export interface StorageFormat {
  readonly bytes: 2 | 4;
  /** Array element that holds one value (or two) and that holds four. */
  readonly scalarElement: string;
  readonly vectorElement: string;
  /** WGSL expression of the value at element index `at` in array `name`. */
  readonly load: (name: string, at: string) => string;
  /** WGSL expression (vec4f) of the vector element at `index`. */
  readonly load4: (name: string, index: string) => string;
  /** WGSL expression of the 16-bit patterns (vec4u) that store a vec4f; none for 32-bit formats. */
  readonly encode4: ((value: string) => string) | null;
  readonly requires: readonly WgslPiece[];
}

const halfWord = (name: string, at: string): string =>
  `((${name}[(${at}) >> 1u] >> (((${at}) & 1u) * 16u)) & 0xffffu)`;

const sixteenBit = (
  encode: string,
  piece: WgslPiece,
  two: (word: string) => string,
  one: (bits: string) => string,
): StorageFormat => ({
  bytes: 2,
  scalarElement: 'u32',
  vectorElement: 'vec2u',
  load: (name, at) => one(halfWord(name, at)),
  load4: (name, index) => `vec4f(${two(`${name}[${index}].x`)}, ${two(`${name}[${index}].y`)})`,
  encode4: value => `${encode}(${value})`,
  requires: [piece],
});

/** One row per float dtype that kernels can read and write. */
export const storageFormats: Readonly<Partial<Record<DType, StorageFormat>>> = {
  f32: {
    bytes: 4,
    scalarElement: 'f32',
    vectorElement: 'vec4f',
    load: (name, at) => `${name}[${at}]`,
    load4: (name, index) => `${name}[${index}]`,
    encode4: null,
    requires: [],
  },
  f16: /* @__PURE__ */ sixteenBit(
    'f16_bits',
    encodeF16,
    word => `unpack2x16float(${word})`,
    bits => `unpack2x16float(${bits}).x`,
  ),
  bf16: /* @__PURE__ */ sixteenBit(
    'bf16_bits',
    encodeBf16,
    word => `bitcast<vec2f>(vec2u(${word} << 16u, ${word} & 0xffff0000u))`,
    bits => `bitcast<f32>(${bits} << 16u)`,
  ),
};

/** The format of a dtype; callers have asked `checkSupport` before. */
export function storageFormat(dtype: DType): StorageFormat {
  const format = storageFormats[dtype];
  if (!format) throw new TypeError(`no storage format for ${dtype}`);
  return format;
}
