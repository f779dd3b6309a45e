import { expect, test } from 'vitest';
import { decodeTensor } from './raw-tensor.ts';

const encode = (...bytes: number[]) => Buffer.from(bytes).toString('base64');

test('decodes little-endian elements of each dtype', () => {
  expect(
    decodeTensor({ dtype: 'f32', shape: [1, 2], data: encode(0, 0, 0x80, 0xff, 0, 0, 0x40, 0x40) }),
  ).toEqual({
    dtype: 'f32',
    shape: [1, 2],
    data: new Float32Array([-Infinity, 3]),
  });
  expect(decodeTensor({ dtype: 'i32', shape: [1], data: encode(0xfe, 0xff, 0xff, 0xff) }).data).toEqual(
    new Int32Array([-2]),
  );
  expect(decodeTensor({ dtype: 'u8', shape: [3], data: encode(0, 1, 255) }).data).toEqual(
    new Uint8Array([0, 1, 255]),
  );
});

test('decodes an empty tensor', () => {
  expect(decodeTensor({ dtype: 'f32', shape: [0, 4], data: '' }).data).toEqual(new Float32Array(0));
});

test('rejects data that is not as long as its shape says, and unknown dtypes', () => {
  expect(() => decodeTensor({ dtype: 'f32', shape: [2], data: encode(0, 0, 0, 0) })).toThrow(
    '[2] has 4 bytes',
  );
  expect(() => decodeTensor({ dtype: 'f64', shape: [0], data: '' })).toThrow('f64');
});
