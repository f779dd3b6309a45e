import { processorTime } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { Tensor } from '../tensor/tensor.ts';
import { fromPages, toPages } from './paged.ts';

const dense = (B: number, H: number, S: number, D: number) =>
  Tensor.from(
    Array.from({ length: B * H * S * D }, (_, n) => n + 1),
    [B, H, S, D],
    { dtype: 'i32' },
  );

describe('paged keys and values', () => {
  it('are stored in blocks, and the last block of a sequence is filled up with zeros', () => {
    const { container, table } = toPages(dense(2, 1, 3, 1), 2);
    expect(container.shape).toEqual([4, 1, 2, 1]);
    expect(Array.from(container.toFloat32())).toEqual([1, 2, 3, 0, 4, 5, 6, 0]);
    expect([table.dtype, table.shape, Array.from(table.data)]).toEqual(['i32', [2, 2], [0, 1, 2, 3]]);
  });

  it('are in the requested blocks', () => {
    const { container, table } = toPages(dense(2, 1, 3, 1), 2, (b, page) => page * 2 + b + 1);
    expect(Array.from(table.data)).toEqual([1, 3, 2, 4]);
    expect(Array.from(container.toFloat32())).toEqual([0, 0, 1, 2, 4, 5, 3, 0, 6, 0]);
  });

  it.each([1, 2, 4, 8, 16, 1024])('are restored unchanged with pages of %i', pageSize => {
    const t = dense(2, 3, 11, 2);
    const paged = toPages(t, pageSize, (b, page) => page * 2 + b);
    expect(fromPages(paged, 11).toFloat32()).toEqual(t.toFloat32());
    expect(fromPages(paged).shape[2]).toBe(Math.ceil(11 / pageSize) * pageSize);
  });

  it('are restored from a container stored as (blocks, pageSize, H, D) and a table with shared blocks', () => {
    const container = dense(2, 2, 3, 1).permute(0, 2, 1, 3);
    const table = Tensor.from([1, 1, 0, 1], [2, 2], { dtype: 'i32' });
    const block = (n: number) =>
      Array.from(
        container
          .slice(0, n, n + 1)
          .slice(1, 0, 1)
          .toFloat32(),
      );
    const first = fromPages({ container, table }).slice(1, 0, 1);
    expect(Array.from(first.toFloat32())).toEqual([1, 1, 0, 1].flatMap(block));
  });

  it('are empty for empty tensors', () => {
    const { container, table } = toPages(dense(2, 1, 0, 1), 4);
    expect([container.shape, table.shape]).toEqual([
      [0, 1, 4, 1],
      [2, 0],
    ]);
    expect(fromPages({ container, table }).shape).toEqual([2, 1, 0, 1]);
  });

  it('without elements take no time, however many pages there are', () => {
    const start = processorTime();
    const { container, table } = toPages(Tensor.zeros([1, 1, 2 ** 24, 0]), 1);
    expect([container.shape, table.shape, table.get(0, 2 ** 24 - 1)]).toEqual([
      [2 ** 24, 1, 1, 0],
      [1, 2 ** 24],
      2 ** 24 - 1,
    ]);
    expect(processorTime() - start).toBeLessThan(2000);
  });

  it('whose table has no room in memory are OUT_OF_MEMORY', () => {
    expect(() => toPages(Tensor.zeros([2 ** 31, 1, 2 ** 20, 0]), 1)).toThrow(
      expect.objectContaining({ code: 'OUT_OF_MEMORY' }),
    );
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'a block beyond those that a table of i32 can name',
      () => toPages(Tensor.zeros([1, 1, 2, 0]), 1, (_, page) => 2 ** 31 - 1 + page),
      /^blockOf must give every page its own block, got 2147483648 for page 1 of sequence 0/,
    ],
    ['a page size of 0', () => toPages(dense(1, 1, 2, 1), 0), /^pageSize must be a positive integer, got 0/],
    [
      'a block given twice',
      () => toPages(dense(1, 1, 2, 1), 1, () => 0),
      /^blockOf must give every page its own block, got 0 for page 1 of sequence 0/,
    ],
    [
      'an S beyond the table',
      () => fromPages(toPages(dense(1, 1, 3, 1), 2), 5),
      /^S must be at most 4, which the table addresses, got 5/,
    ],
    ...[-1, 1, 0.5, Number.NaN].map((block): [string, () => unknown, RegExp] => [
      `a block ${block} that does not exist`,
      () => fromPages({ container: dense(1, 1, 2, 1), table: Tensor.from([0, block], [1, 2]) }),
      new RegExp(`^table must hold blocks in \\[0, 1\\), got ${block} at \\[0,1\\]`),
    ]),
    [
      'blocks that are not a function',
      () => toPages(dense(1, 1, 2, 1), 1, [0, 1] as never),
      /^blockOf must be a function/,
    ],
    [
      'another rank',
      () => toPages(Tensor.zeros([2, 2]), 2),
      /^dense must have shape \(B, H, S, D\), got \[2,2\]/,
    ],
  ])('reject %s', (_, run, message) => {
    expect(run).toThrow(message);
  });
});
