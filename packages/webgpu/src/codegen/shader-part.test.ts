import { expect, test } from 'vitest';
import { packUniforms, type UniformField, uniformBytes } from './shader-part.ts';

const field = (type: UniformField['type'], value: UniformField['value']): UniformField => ({
  name: 'x',
  type,
  value,
});

test('uniforms are packed as the words of their types', () => {
  const bytes = packUniforms([field('u32', 2 ** 32 - 1), field('i32', -2), field('f32', 0.1)], () => 0);
  const words = new DataView(bytes);
  expect(words.getUint32(0, true)).toBe(0xffffffff);
  expect(words.getInt32(4, true)).toBe(-2);
  expect(words.getFloat32(8, true)).toBe(Math.fround(0.1));
});

test('values of the call are selected by their meaning', () => {
  const bytes = packUniforms([field('u32', { offsetOf: 'q' }), field('u32', { input: 'seedHigh' })], value =>
    'offsetOf' in value ? 12 : 34,
  );
  expect([...new Uint32Array(bytes).slice(0, 2)]).toEqual([12, 34]);
});

test('the size of their buffer is a multiple of 16 bytes and never 0', () => {
  const some = (n: number) => Array.from({ length: n }, () => field('u32', 1));
  expect([0, 1, 4, 5].map(n => uniformBytes(some(n)))).toEqual([16, 16, 16, 32]);
});
