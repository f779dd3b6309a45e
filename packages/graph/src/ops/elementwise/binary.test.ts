import { describe, expect, test } from 'vitest';
import { runOperation } from '../../../testing/compare/run-operation.ts';

describe('operations of two tensors', () => {
  test.each([
    ['Add', [11, 22, 13, 24]],
    ['Subtract', [-9, -18, -7, -16]],
    ['Multiply', [10, 40, 30, 80]],
    ['Divide', [0.1, 0.1, 0.3, 0.2]],
    ['Maximum', [10, 20, 10, 20]],
    ['Minimum', [1, 2, 3, 4]],
    ['SquaredDifference', [81, 324, 49, 256]],
  ])('%s broadcasts', async (kind, expected) => {
    const a = { values: [1, 2, 3, 4], shape: [2, 2] };
    expect(await runOperation(kind, [a, { values: [10, 20] }])).toEqual([expected.map(Math.fround)]);
  });

  test('shapes may not differ without auto_broadcast', async () => {
    const inputs = [{ values: [1, 2] }, { values: [1], shape: [1] }];
    await expect(runOperation('Add', inputs, { auto_broadcast: 'none' })).rejects.toThrow(
      'needs equal shapes, got [2] and [1]',
    );
    await expect(runOperation('Add', [{ values: [1, 2] }, { values: [1, 2, 3] }])).rejects.toThrow(
      'cannot broadcast [2] with [3]',
    );
  });

  test('GreaterEqual and Select', async () => {
    expect(
      await runOperation('GreaterEqual', [{ values: [1, 2, 3] }, { values: [2, 2, 2] }], {}, ['bool']),
    ).toEqual([[0, 1, 1]]);
    const cond = { values: [1, 0], shape: [2, 1], dtype: 'bool' as const };
    const select = await runOperation('Select', [
      cond,
      { values: [1, 2, 3, 4], shape: [2, 2] },
      { values: [-1] },
    ]);
    expect(select).toEqual([[1, 2, -1, -1]]);
    await expect(
      runOperation('Select', [
        { ...cond, values: [1, 0, 1], shape: [3, 1] },
        { values: [1] },
        { values: [2] },
      ]),
    ).rejects.toThrow('needs operands that broadcast to [1], got [3,1]');
  });

  test('BiasAdd adds along its channels', async () => {
    const src = { values: [0, 0, 0, 0, 0, 0, 0, 0], shape: [1, 2, 2, 2] };
    const bias = { values: [1, 2] };
    expect(await runOperation('BiasAdd', [src, bias], { data_format: 'NCX' })).toEqual([
      [1, 1, 1, 1, 2, 2, 2, 2],
    ]);
    expect(await runOperation('BiasAdd', [src, bias])).toEqual([[1, 2, 1, 2, 1, 2, 1, 2]]);
  });
});
