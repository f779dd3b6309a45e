import { describe, expect, test } from 'vitest';
import { runOperation } from '../../../testing/compare/run-operation.ts';

describe('reductions', () => {
  const a = { values: [1, -2, 3, 4, -5, 6], shape: [2, 3] };
  test.each([
    ['ReduceSum', [2, 5]],
    ['ReduceMax', [3, 6]],
    ['ReduceMin', [-2, -5]],
    ['ReduceProd', [-6, -120]],
    ['ReduceMean', [2 / 3, 5 / 3]],
    ['ReduceL1', [6, 15]],
    ['ReduceL2', [Math.sqrt(14), Math.sqrt(77)]],
  ])('%s', async (kind, expected) => {
    expect(await runOperation(kind, [a], { axes: [-1] })).toEqual([expected.map(Math.fround)]);
  });

  test('need valid axes, each listed once', async () => {
    await expect(runOperation('ReduceSum', [a], { axes: [] })).rejects.toThrow(
      "needs distinct axes of [2,3] in 'axes', got []",
    );
    await expect(runOperation('ReduceSum', [a], { axes: [1, -1] })).rejects.toThrow('got [1,-1]');
    await expect(runOperation('ReduceSum', [a], { axes: [2] })).rejects.toThrow('got [2]');
  });
});
