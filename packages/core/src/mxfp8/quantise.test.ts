import { expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import { float8e4m3, float8e5m2 } from '../tensor/dtype/float-format.ts';
import { Tensor } from '../tensor/tensor.ts';
import { blockScaleCode, blockScaleIndex, blockScaleShape, e8m0Value } from './block-scales.ts';
import { dequantiseMxfp8, quantiseMxfp8 } from './quantise.ts';

const axes = ['channels', 'positions'] as const;
const layouts = ['rows', 'F8_128x4'] as const;

test('the scale is the smallest power of two by which the largest value fits', () => {
  for (const [format, max] of [
    [float8e4m3, 448],
    [float8e5m2, 57344],
  ] as const) {
    const scale = (amax: number): number => e8m0Value(blockScaleCode(amax, format));
    expect([max, max * 1.001, max * 2, max / 2, max / 1.999].map(scale)).toEqual([1, 2, 2, 0.5, 1]);
    expect(scale(3)).toBe(2 ** Math.ceil(Math.log2(3 / max)));
  }
  expect(blockScaleCode(0, float8e4m3)).toBe(0);
  expect(blockScaleCode(NaN, float8e4m3)).toBe(255);
});

test.each(['f8e4m3', 'f8e5m2'] as const)(
  'an infinity in %s comes back beside its finite neighbours, and a NaN takes its block along',
  dtype => {
    const restored = (...block: number[]) =>
      dequantiseMxfp8(quantiseMxfp8(Tensor.from(block, [1, 1, 1, block.length]), { dtype })).toFloat32();
    expect([...restored(Infinity, -Infinity, 2 ** 127, 0)]).toEqual([Infinity, -Infinity, 2 ** 127, 0]);
    expect([...restored(Number.NaN, 1)]).toEqual([Number.NaN, Number.NaN]);
  },
);

test('scales of another axis, layout or dtype are refused, even if as many', () => {
  const along = normal([1, 1, 64, 32], 1);
  const quantised = quantiseMxfp8(along);
  const { values, scales } = quantised;
  expect(() => dequantiseMxfp8(quantised, { along: 'positions' })).toThrow(
    'tensor.scales must have shape [1,1,2,32], got [1,1,64,1]',
  );
  expect(() => dequantiseMxfp8(quantised, { layout: 'F8_128x4' })).toThrow('must have shape [1,1,128,4]');
  expect(() => dequantiseMxfp8({ values, scales: scales.cast('i8') })).toThrow('scales must be u8, got i8');
  expect(() => dequantiseMxfp8({ values: along, scales })).toThrow(
    'values must be f8e4m3 or f8e5m2, got f32',
  );
  expect(() => dequantiseMxfp8({ values: values.reshape([64, 32]), scales })).toThrow(
    'values must be (B, H, S, D), got shape [64,32]',
  );
});

test.each(axes)('values that fit a block along %s are restored exactly, whatever the layout', along => {
  // Small integers times a power of two per block: f8e4m3 represents integers up to 16.
  const shape = [1, 2, 40, 36];
  const t = Tensor.zeros(shape);
  for (let h = 0; h < 2; h++) {
    for (let s = 0; s < 40; s++) {
      for (let d = 0; d < 36; d++) {
        const block = along === 'channels' ? s + Math.floor(d / 32) : d + Math.floor(s / 32);
        t.set((((s * 7 + d * 3 + h) % 33) - 16) * 2 ** ((block % 9) - 4), 0, h, s, d);
      }
    }
  }
  for (const layout of layouts) {
    const quantised = quantiseMxfp8(t, { along, layout });
    expect(quantised.scales.shape).toEqual(blockScaleShape(shape, along, layout));
    expect(dequantiseMxfp8(quantised, { along, layout }).toFloat64()).toEqual(t.toFloat64());
  }
});

test('values are rounded to the format after the scale', () => {
  const t = normal([1, 1, 3, 70], 1);
  for (const dtype of ['f8e4m3', 'f8e5m2'] as const) {
    const back = dequantiseMxfp8(quantiseMxfp8(t, { dtype })).toFloat64();
    const unit = dtype === 'f8e4m3' ? 2 ** -4 : 2 ** -3;
    t.toFloat64().forEach((x, n) => {
      expect(Math.abs(back[n] - x)).toBeLessThanOrEqual(unit * Math.abs(x) + 4 * 2 ** -16);
    });
  }
});

test('F8_128x4 is a permutation of 512-byte blocks, 32 rows of 16 bytes each', () => {
  const shape = [1, 1, 200, 192];
  const indexOf = blockScaleIndex(shape, 'channels', 'F8_128x4');
  expect(blockScaleShape(shape, 'channels', 'F8_128x4')).toEqual([1, 1, 256, 8]);
  expect(
    [
      [0, 0],
      [0, 32],
      [1, 0],
      [32, 0],
      [0, 128],
      [128, 0],
    ].map(([s, d]) => indexOf(s, d)),
  ).toEqual([0, 1, 16, 4, 512, 1024]);
  const seen = new Set<number>();
  for (let s = 0; s < 200; s++) for (let d = 0; d < 192; d += 32) seen.add(indexOf(s, d));
  expect(seen.size).toBe(200 * 6);
  expect(blockScaleShape([1, 1, 40, 72], 'positions', 'F8_128x4')).toEqual([1, 1, 4, 128]);
});

test('other ranks and integers are refused', () => {
  expect(() => quantiseMxfp8(Tensor.zeros([4, 32]))).toThrow('t must be (B, H, S, D), got shape [4,32]');
  expect(() => quantiseMxfp8(Tensor.zeros([1, 1, 1, 1], { dtype: 'i32' }))).toThrow(
    't must be a float dtype, got i32',
  );
});
