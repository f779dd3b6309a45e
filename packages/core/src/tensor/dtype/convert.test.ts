import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeArray, encodeArray } from './convert.ts';
import { dtypeInfo } from './dtype.ts';
import { bfloat16, type FloatFormat, float8e4m3, float8e5m2, float16 } from './float-format.ts';

const formats: ['f16' | 'bf16' | 'f8e4m3' | 'f8e5m2', FloatFormat][] = [
  ['f16', float16],
  ['bf16', bfloat16],
  ['f8e4m3', float8e4m3],
  ['f8e5m2', float8e5m2],
];

/**
 * The code of a number by its definition: that of the nearest value, or the even code if two are equally
 * near.
 */
function nearestCode(format: FloatFormat, x: number, overflow = format.overflow): number {
  const { bits, decode, max, maxCode, overflowCode, nan } = format;
  if (Number.isNaN(x)) return nan;
  const sign = x < 0 || Object.is(x, -0) ? 1 << (bits - 1) : 0;
  const a = Math.abs(x);
  let [below, above] = [0, maxCode + 1];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (decode(middle) <= a) below = middle;
    else above = middle;
  }
  const value = decode(below);
  const next = above > maxCode ? 2 * max - decode(maxCode - 1) : decode(above);
  const [rest, half] = [a - value, (next - value) / 2];
  const code = rest > half || (rest === half && below % 2 === 1) ? above : below;
  if (code <= maxCode) return sign | code;
  return sign | (overflow === 'saturate' ? maxCode : overflowCode);
}

describe.each(formats)('bulk conversion of %s', (dtype, format) => {
  const codes = dtypeInfo[dtype].allocate(1 << format.bits).map((_, n) => n);

  it('decodes every code as the format does', () => {
    const expected = Array.from(codes, format.decode);
    expect(Array.from(decodeArray(dtype, codes, new Float32Array(codes.length)))).toEqual(expected);
    expect(Array.from(decodeArray(dtype, codes, new Float64Array(codes.length)))).toEqual(expected);
  });

  /**
   * Every value, the midpoints between neighbours, the numbers one bit of an f32 or f64 beside them, and the
   * extremes.
   */
  const values: number[] = [
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    1e-300,
    -1e-300,
    1e300,
    -1e300,
    Number.MIN_VALUE,
  ];
  for (let code = 0; code <= format.maxCode; code++) {
    const value = format.decode(code);
    const next = code < format.maxCode ? format.decode(code + 1) : value * 1.5;
    const half = (value + next) / 2;
    for (const x of [value, half]) {
      for (const bit of [0, 2 ** -52, -(2 ** -52), 2 ** -23, -(2 ** -23)]) values.push(x * (1 + bit));
    }
    values.push(-half);
  }

  it.each(['ieee', 'saturate'] as const)('encodes f64 values as the nearest (%s)', overflow => {
    const actual = encodeArray(dtype, values, dtypeInfo[dtype].allocate(values.length), overflow);
    const differing = values.filter((x, n) => actual[n] !== nearestCode(format, x, overflow));
    expect(differing).toEqual([]);
  });

  it('encodes f32 values as the nearest', () => {
    const rounded = Float32Array.from(values);
    const actual = encodeArray(dtype, rounded, dtypeInfo[dtype].allocate(values.length));
    expect(rounded.filter((x, n) => actual[n] !== nearestCode(format, x))).toHaveLength(0);
  });

  it('encodes any f64 as the nearest value, one by one too', () => {
    const span = fc.double({ min: -2 * format.max, max: 2 * format.max });
    const small = fc.double({ min: -8 * format.min, max: 8 * format.min });
    fc.assert(
      fc.property(fc.array(fc.oneof(span, small, fc.double()), { minLength: 1 }), xs => {
        const actual = encodeArray(dtype, xs, dtypeInfo[dtype].allocate(xs.length));
        expect(Array.from(actual)).toEqual(xs.map(x => nearestCode(format, x)));
        expect(xs.map(x => format.encode(x))).toEqual(Array.from(actual));
      }),
    );
  });
});

describe('other dtypes', () => {
  it('integers truncate and wrap around', () => {
    expect(Array.from(encodeArray('u8', [1.9, -1, 256], new Uint8Array(3)))).toEqual([1, 255, 0]);
    expect(Array.from(encodeArray('i32', [-1.9, 2 ** 31], new Int32Array(2)))).toEqual([-1, -(2 ** 31)]);
  });

  it('a bool is whether the number is not 0', () => {
    expect(Array.from(encodeArray('bool', [0, -0, 0.5, 7], new Uint8Array(4)))).toEqual([0, 0, 1, 1]);
    expect(Array.from(decodeArray('bool', Uint8Array.of(0, 1, 255), new Float32Array(3)))).toEqual([0, 1, 1]);
  });

  it('integers are exact in f64', () => {
    const u32 = Uint32Array.of(2 ** 32 - 1);
    expect(decodeArray('u32', u32, new Float64Array(1))[0]).toBe(2 ** 32 - 1);
  });

  it('does not write beyond the given array', () => {
    expect(() => decodeArray('f32', new Float32Array(3), new Float32Array(2))).toThrow(
      /^out has 2 elements, but must hold 3/,
    );
    const out = Uint16Array.of(7, 7, 7);
    encodeArray('f16', [1], out);
    expect(Array.from(out)).toEqual([0x3c00, 7, 7]);
  });
});
