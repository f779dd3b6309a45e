import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { backwardOf } from '../../../testing/compare/check-gradients.ts';
import { runOperation } from '../../../testing/compare/run-operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

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

test('Power at a base or an exponent of 0 has the gradients that PyTorch gives', async () => {
  const g = new GraphBuilder();
  const base = g.input([5], { values: [0, 0, 2, 0, -1] });
  const exponent = g.input([5], { values: [0, 2, 0, -1, 0] });
  const y = g.op('Power', [base, exponent]);
  const { backward, own } = await backwardOf(g, y, [base, exponent], () => 1);
  const results = await backward.run(cpuEngine(), own);
  const of = (t: LogicalTensor) => [...results[backward.gradients.get(t.id)?.id ?? -1].toFloat64()];
  expect(of(base)).toEqual([0, 0, 0, -Infinity, 0]);
  expect(of(exponent)).toEqual([0, 0, Math.fround(Math.LN2), -Infinity, NaN]);
});
