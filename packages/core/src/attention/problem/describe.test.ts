import { expect, test } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import { describeBroadcast, describeDense, describePaged, describeTokens } from './describe.ts';

test('dense strides do not change', () => {
  const bshd = Tensor.zeros([2, 5, 4, 8]).permute(0, 2, 1, 3);
  expect(describeDense('q', bshd)).toEqual({
    ...{ dtype: 'f32', shape: [2, 4, 5, 8], strides: [160, 8, 32, 1], starts: 'strided', page: null },
  });
});

test('packed tokens are the positions of one batch entry', () => {
  const thd = Tensor.zeros([9, 4, 8], { dtype: 'f16' });
  expect(describeTokens('q', thd, 'cumulative')).toEqual({
    ...{ dtype: 'f16', shape: [1, 4, 9, 8], strides: [0, 8, 32, 1], starts: 'cumulative', page: null },
  });
  expect(describeTokens('q', thd, 'ragged')).toEqual({
    ...describeTokens('q', thd, 'cumulative'),
    starts: 'ragged',
  });
});

test('a paged operand knows its page size and its table', () => {
  const table = Tensor.zeros([2, 3], { dtype: 'i32' });
  const { shape, page } = describePaged('k', Tensor.zeros([6, 2, 16, 8]), table);
  expect(shape).toEqual([6, 2, 16, 8]);
  expect(page).toEqual({ size: 16, table: { dtype: 'i32', shape: [2, 3], strides: [3, 1] } });
});

test('size-1 dimensions have stride 0, whatever the stride of the caller', () => {
  const t = { dtype: 'f32', shape: [1, 4, 1, 8], strides: [777, 8, 555, 1] } as const;
  expect(describeDense('q', t).strides).toEqual([0, 8, 0, 1]);
});

test('a broadcast is aligned at the last dimension and steps by 0 where it repeats', () => {
  const target = [2, 4, 5, 7] as const;
  const strides = (...shape: number[]) => describeBroadcast('bias', Tensor.zeros(shape), target)?.strides;
  expect(strides()).toEqual([0, 0, 0, 0]);
  expect(strides(7)).toEqual([0, 0, 0, 1]);
  expect(strides(4, 1, 7)).toEqual([0, 7, 0, 1]);
  expect(strides(2, 1, 5, 1)).toEqual([5, 0, 1, 0]);
  expect(describeBroadcast('bias', undefined, target)).toBeNull();
});
