import { describe, expect, it } from 'vitest';
import { bfloat16, type FloatFormat, float8e4m3, float8e5m2, float16 } from './float-format.ts';

const formats: [string, FloatFormat][] = [
  ['f16', float16],
  ['bf16', bfloat16],
  ['f8e4m3', float8e4m3],
  ['f8e5m2', float8e5m2],
];

const signBit = (format: FloatFormat) => 1 << (format.bits - 1);

/** Codes of the non-negative finite values, in order of value. */
const magnitudes = (format: FloatFormat) => Array.from({ length: format.maxCode + 1 }, (_, code) => code);

describe.each(formats)('%s', (_, format) => {
  const { decode, encode } = format;

  it('encodes the value of every code as that code', () => {
    const wrong: number[] = [];
    for (let code = 0; code < 1 << format.bits; code++) {
      const value = decode(code);
      const expected = Number.isNaN(value) ? format.nan : code;
      if (encode(value, 'ieee') !== expected) wrong.push(code);
    }
    expect(wrong).toEqual([]);
  });

  it('has values that grow with the code, negated by the sign bit', () => {
    const values = magnitudes(format).map(decode);
    expect(values.every((x, n) => n === 0 || x > values[n - 1])).toBe(true);
    expect(magnitudes(format).every(code => Object.is(decode(code | signBit(format)), -decode(code)))).toBe(
      true,
    );
    expect(Number.isNaN(decode(format.nan))).toBe(true);
  });

  it('rounds ties to the even code, and numbers one bit of an f64 beside a tie to the nearest', () => {
    const wrong: number[] = [];
    for (const code of magnitudes(format).slice(0, -1)) {
      const half = (decode(code) + decode(code + 1)) / 2;
      const even = code % 2 === 0 ? code : code + 1;
      const nudge = half * 2 ** -52;
      for (const sign of [1, -1]) {
        const s = sign < 0 ? signBit(format) : 0;
        if (encode(sign * half) !== (s | even)) wrong.push(code);
        if (encode(sign * (half - nudge)) !== (s | code)) wrong.push(code);
        if (encode(sign * (half + nudge)) !== (s | (code + 1))) wrong.push(code);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('keeps the sign of zero, and of numbers that round to zero', () => {
    expect(encode(0)).toBe(0);
    expect(encode(-0)).toBe(signBit(format));
    expect(encode(-Number.MIN_VALUE)).toBe(signBit(format));
    expect(encode(format.min / 2)).toBe(0);
    expect(Object.is(decode(signBit(format)), -0)).toBe(true);
  });

  it('starts to overflow half a step beyond the largest finite value', () => {
    const step = format.max - decode(format.maxCode - 1);
    const limit = format.max + step / 2;
    expect(encode(limit * (1 - 2 ** -52), 'ieee')).toBe(format.maxCode);
    // The tie goes to the even code. For E4M3 that is 448, whose code is even; for other formats it is
    // infinity.
    const tie = format.maxCode % 2 === 0 ? format.maxCode : format.overflowCode;
    expect(encode(limit, 'ieee')).toBe(tie);
    expect(encode(limit * (1 + 2 ** -52), 'ieee')).toBe(format.overflowCode);
    for (const value of [limit * 2, 1e300, Infinity]) {
      expect(encode(value, 'ieee')).toBe(format.overflowCode);
      expect(encode(-value, 'ieee')).toBe(format.overflowCode | signBit(format));
      expect(encode(value, 'saturate')).toBe(format.maxCode);
      expect(encode(-value, 'saturate')).toBe(format.maxCode | signBit(format));
    }
    expect(encode(NaN, 'saturate')).toBe(format.nan);
  });
});

describe('known values', () => {
  it.each<[string, FloatFormat, number, number]>([
    ['f16', float16, 0x3c00, 1],
    ['f16', float16, 0x7bff, 65504],
    ['f16', float16, 0x0400, 2 ** -14],
    ['f16', float16, 0x0001, 2 ** -24],
    ['f16', float16, 0x7c00, Infinity],
    ['f16', float16, 0x3555, 0.333251953125],
    ['bf16', bfloat16, 0x3f80, 1],
    ['bf16', bfloat16, 0x7f7f, 3.3895313892515355e38],
    ['bf16', bfloat16, 0x0001, 2 ** -133],
    ['bf16', bfloat16, 0xff80, -Infinity],
    ['f8e4m3', float8e4m3, 0x38, 1],
    ['f8e4m3', float8e4m3, 0x7e, 448],
    ['f8e4m3', float8e4m3, 0x01, 2 ** -9],
    ['f8e5m2', float8e5m2, 0x3c, 1],
    ['f8e5m2', float8e5m2, 0x7b, 57344],
    ['f8e5m2', float8e5m2, 0x01, 2 ** -16],
    ['f8e5m2', float8e5m2, 0x7c, Infinity],
  ])('%s %#', (_, format, code, value) => {
    expect(format.decode(code)).toBe(value);
  });

  it('f8 saturates by default, 16 bits do not', () => {
    expect(float8e4m3.encode(1000)).toBe(0x7e);
    expect(float8e5m2.encode(Infinity)).toBe(0x7b);
    expect(float8e4m3.encode(1000, 'ieee')).toBe(0x7f);
    expect(float16.encode(1e6)).toBe(0x7c00);
    expect(bfloat16.encode(1e39)).toBe(0x7f80);
  });

  it('rounds an f64 once, where a conversion through f32 would round twice', () => {
    // 1 + half a step of f16, and a bit that f32 cannot represent: f32 rounds it to the tie, which then goes
    // to even.
    const value = 1 + 2 ** -11 + 2 ** -40;
    expect(float16.encode(Math.fround(value))).toBe(0x3c00);
    expect(float16.encode(value)).toBe(0x3c01);
  });
});
