import type { DType } from '@tilewise/core';
import { type FloatLayout, float8e4m3Layout, float8e5m2Layout, float16Layout } from '@tilewise/core/engine';
import type { WgslPiece } from '@tilewise/philox/wgsl';
import { byteAt, packBytes, splitBytes } from './bytes.ts';
import { encodeBf16 } from './float-bits.ts';
import { decodeSmallFloat, encodeSmallFloat } from './small-float.ts';

/**
 * How a float dtype is stored in storage buffers and converted to f32. Core WebGPU has no smaller types, so
 * f16, bf16 and f8 are unpacked from u32 words; `shader-f16` is not needed.
 */
export interface StorageFormat {
  readonly bytes: 1 | 2 | 4;
  /** The array element types for one value (or a word that contains it), and for four values. */
  readonly scalarElement: string;
  readonly vectorElement: string;
  /**
   * WGSL expression of the value at element index `at`; `word` gives the expression of an array element, see
   * `arrayElement`.
   */
  readonly load: (word: (index: string) => string, at: string) => string;
  /** WGSL expression of the four values (vec4f for floats) in the vector element at `index`. */
  readonly load4: (array: string, index: string) => string;
  /** Loads four elements as vec4<f16>, which requires `shader-f16`; f16 only. */
  readonly loadHalf4?: (name: string, index: string) => string;
  /** WGSL expression of the codes (vec4u) in which a vec4f is stored; null for 32-bit formats. */
  readonly encode4: ((value: string) => string) | null;
  /** WGSL expression of the vector element that holds four codes or four 32-bit numbers. */
  readonly pack4: (codes: string) => string;
  /** WGSL expression of a vec4f rounded to the format; 8-bit formats only. */
  readonly round4: ((value: string) => string) | null;
  readonly requires: readonly WgslPiece[];
}

/** Makes expressions of the elements of a WGSL array with this name. */
export const arrayElement =
  (name: string) =>
  (index: string): string =>
    `${name}[${index}]`;

const halfWord = (word: (index: string) => string, at: string): string =>
  `((${word(`(${at}) >> 1u`)} >> (((${at}) & 1u) * 16u)) & 0xffffu)`;

const sixteenBit = (
  encode: string,
  piece: WgslPiece,
  two: (word: string) => string,
  one: (bits: string) => string,
): StorageFormat => ({
  bytes: 2,
  scalarElement: 'u32',
  vectorElement: 'vec2u',
  load: (word, at) => one(halfWord(word, at)),
  load4: (name, index) => `vec4f(${two(`${name}[${index}].x`)}, ${two(`${name}[${index}].y`)})`,
  encode4: value => `${encode}(${value})`,
  pack4: codes => `${codes}.xz | (${codes}.yw << vec2u(16u))`,
  round4: null,
  requires: [piece],
});

const eightBit = (name: string, format: FloatLayout): StorageFormat => ({
  bytes: 1,
  scalarElement: 'u32',
  vectorElement: 'u32',
  load: (word, at) => `${name}_values(vec4u${byteAt(word, at)}).x`,
  load4: (array, index) => `${name}_values(split_bytes(${array}[${index}]))`,
  encode4: value => `${name}_bits(${value})`,
  pack4: packBytes,
  round4: value => `${name}_values(${name}_bits(${value}))`,
  requires: [splitBytes, encodeSmallFloat(name, format), decodeSmallFloat(name, format)],
});

/** One row per float dtype that kernels can read and write. */
const storageFormats: Readonly<Partial<Record<DType, StorageFormat>>> = {
  f32: {
    bytes: 4,
    scalarElement: 'f32',
    vectorElement: 'vec4f',
    load: (word, at) => word(at),
    load4: (name, index) => `${name}[${index}]`,
    encode4: null,
    pack4: values => values,
    round4: null,
    requires: [],
  },
  f16: {
    .../* @__PURE__ */ sixteenBit(
      'f16_bits',
      encodeSmallFloat('f16', float16Layout),
      word => `unpack2x16float(${word})`,
      bits => `unpack2x16float(${bits}).x`,
    ),
    loadHalf4: (name, index) => `bitcast<vec4<f16>>(${name}[${index}])`,
  },
  bf16: /* @__PURE__ */ sixteenBit(
    'bf16_bits',
    encodeBf16,
    word => `bitcast<vec2f>(vec2u(${word} << 16u, ${word} & 0xffff0000u))`,
    bits => `bitcast<f32>(${bits} << 16u)`,
  ),
  f8e4m3: /* @__PURE__ */ eightBit('f8e4m3', float8e4m3Layout),
  f8e5m2: /* @__PURE__ */ eightBit('f8e5m2', float8e5m2Layout),
};

/** The format of a dtype. Callers have checked the dtype with `checkSupport`. */
export function storageFormat(dtype: DType): StorageFormat {
  const format = storageFormats[dtype];
  if (!format) throw new TypeError(`no storage format for ${dtype}`);
  return format;
}
