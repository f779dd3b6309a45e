import { describe, expect, it } from 'vitest';
import { copyTensor } from './copy.ts';
import { Tensor } from './tensor.ts';

const iota = (count: number) => Array.from({ length: count }, (_, n) => n);
const values = (t: Tensor) => Array.from(t.toFloat64());

describe('copies', () => {
  it('cast reads any view and stores it contiguously', () => {
    const t = Tensor.from([1.5, 2.5, -3, 70000], [2, 2]).permute(1, 0);
    const half = t.cast('f16');
    expect([half.dtype, half.strides, values(half)]).toEqual(['f16', [2, 1], [1.5, -3, 2.5, Infinity]]);
    expect(values(t.cast('f16', { overflow: 'saturate' }))).toEqual([1.5, -3, 2.5, 65504]);
    expect(values(t.cast('i32'))).toEqual([1, -3, 2, 70000]);
    expect(values(t.cast('bool'))).toEqual([1, 1, 1, 1]);
  });

  it('cast between integers is exact', () => {
    const t = Tensor.from([2 ** 32 - 1, 2 ** 24 + 1], [2], { dtype: 'u32' });
    expect(values(t.cast('i32'))).toEqual([-1, 2 ** 24 + 1]);
  });

  it('contiguous keeps the bits of NaNs and is always a copy', () => {
    const data = Uint16Array.of(0xfe01, 0x7c01);
    const copy = Tensor.wrap(data, { dtype: 'f16', shape: [2] }).contiguous();
    expect(Array.from(copy.data)).toEqual([0xfe01, 0x7c01]);
    expect(copy.data).not.toBe(data);
  });

  it('copyTensor does not write gaps', () => {
    const data = new Float32Array(40).fill(NaN);
    const to = Tensor.wrap(data, { dtype: 'f32', shape: [2, 17], strides: [20, 1], offset: 1 });
    copyTensor(Tensor.from(iota(34), [17, 2]).permute(1, 0), to);
    copyTensor(Tensor.from(iota(34), [2, 17]), to);
    expect(values(to)).toEqual(iota(34));
    const gaps = [0, 18, 19, 20, 38, 39];
    expect([...data.keys()].filter(at => Number.isNaN(data[at]))).toEqual(gaps);
  });

  it('copyTensor wants the same shape and dtype', () => {
    const t = Tensor.zeros([2]);
    expect(() => copyTensor(t, Tensor.zeros([1, 2]))).toThrow(/^to has shape \[1,2\], but from has \[2\]/);
    expect(() => copyTensor(t, Tensor.zeros([2], { dtype: 'u32' }))).toThrow(/^to is u32, but from is f32/);
  });
});
