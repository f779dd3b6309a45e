import { expect, test } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import { dropoutDesc } from './dropout.ts';

const target = [2, 4, 5, 7] as const;
const mask = Tensor.zeros([4, 1, 7], { dtype: 'bool' });

test('no dropout and p = 0 drop nothing', () => {
  expect(dropoutDesc(undefined, target)).toBeNull();
  expect(dropoutDesc({ p: 0, seed: 7 }, target)).toBeNull();
});

test('the default is the torch-efficient scheme from offset 0', () => {
  expect(dropoutDesc({ p: 0.5, seed: 7 }, target)).toEqual({
    ...{ kind: 'philox', p: 0.5, scale: 2, scheme: 'torch-efficient', seed: [7, 0], offset: [0, 0] },
  });
});

test('seed and offset keep all 64 bits', () => {
  const desc = dropoutDesc({ p: 0.5, seed: 2n ** 64n - 2n, offset: 2 ** 53 - 1 }, target);
  expect(desc).toMatchObject({ seed: [0xfffffffe, 0xffffffff], offset: [0xffffffff, 0x1fffff] });
});

test('a mask is broadcast, and scales by 1 unless p or scale is given', () => {
  const strides = [0, 7, 0, 1];
  expect(dropoutDesc({ mask }, target)).toMatchObject({ kind: 'mask', scale: 1, mask: { strides } });
  expect(dropoutDesc({ mask, p: 0.75 }, target)).toMatchObject({ scale: 4 });
  expect(dropoutDesc({ mask, scale: 3 }, target)).toMatchObject({ scale: 3 });
});
