import { expect, test } from 'vitest';
import { Tensor } from '../tensor.ts';
import { checkStorage } from './check-storage.ts';

const transferred = (t: Tensor): Tensor => {
  structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] });
  return t;
};

test('names the tensor whose buffer has been transferred, at any depth', () => {
  const q = Tensor.from([1, 2, 3], [3]);
  const bias = transferred(Tensor.from([1, 2], [2]));
  expect(() => checkStorage({ q, captures: { bias } })).toThrow(
    'captures.bias must have 2 elements of storage, has 0: it was released, transferred or shrunk',
  );
});

test('does not look into tensors of other devices', () => {
  const q: Record<string, unknown> = { shape: [4] };
  q.device = { tensors: [q] };
  expect(() => checkStorage({ q })).not.toThrow();
});

test('tensors with enough storage pass: views, tensors without elements, and other values', () => {
  const view = Tensor.wrap(new Float32Array(9), { dtype: 'f32', shape: [2, 2], strides: [4, 1], offset: 3 });
  const empty = transferred(Tensor.zeros([0, 4]));
  expect(() => checkStorage({ view, empty, missing: undefined, none: null, scale: 2 })).not.toThrow();
});
