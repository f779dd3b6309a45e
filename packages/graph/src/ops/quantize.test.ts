import { describe, expect, test } from 'vitest';
import { runOperation } from '../../testing/compare/run-operation.ts';

describe('quantization', () => {
  test('rounds to nearest even, saturates, and comes back', async () => {
    const attrs = { scales: [0.5], zps: [3] };
    expect(await runOperation('Quantize', [{ values: [0.25, 0.75, -100, 200] }], attrs, ['i8'])).toEqual([
      [4, 4, -128, 127],
    ]);
    expect(await runOperation('Dequantize', [{ values: [4, -128], dtype: 'i8' }], attrs)).toEqual([
      [0.5, -65.5],
    ]);
  });

  test('per channel', async () => {
    const attrs = { qtype: 'per_channel', axis: 0, scales: [1, 2] };
    expect(
      await runOperation('Dequantize', [{ values: [1, 2, 3, 4], shape: [2, 2], dtype: 'u8' }], attrs),
    ).toEqual([[1, 2, 6, 8]]);
  });

  test('per channel, with as many scales and zero points from tensors as there are channels', async () => {
    const src = { values: [1, 2, 3, 4, 5, 6], shape: [2, 3], dtype: 'u8' as const };
    const list = (count: number) => ({ values: Array.from({ length: count }, (_, n) => n + 1) });
    const run = (scales: number, zps: number, attrs = {}) => {
      const inputs = [src, list(scales), { ...list(zps), dtype: 'u8' as const }];
      return runOperation('DynamicDequantize', inputs, { qtype: 'per_channel', axis: -1, ...attrs });
    };
    expect(await run(3, 3)).toEqual([[0, 0, 0, 3, 6, 9]]);
    expect(await run(3, 1)).toEqual([[0, 2, 6, 3, 8, 15]]);
    expect(await run(1, 1)).toEqual([[0, 1, 2, 3, 4, 5]]);
    for (const [scales, zps] of [
      [2, 3],
      [4, 3],
      [3, 2],
    ] as const)
      await expect(run(scales, zps)).rejects.toThrow('needs 3 scales and zero points per_channel of [2,3]');
    await expect(run(3, 3, { axis: 2 })).rejects.toThrow('has no axis 2');
    await expect(run(1, 3, { qtype: 'per_tensor' })).rejects.toThrow('needs 1 scales and zero points');
  });

  test('per group, of 4-bit integers with zero points', async () => {
    const inputs = [
      { values: [-8, -1, 2, 7], shape: [1, 4], dtype: 'i4' as const },
      { values: [1, 10], shape: [1, 2] },
      { values: [1, 2], shape: [1, 2], dtype: 'i4' as const },
    ];
    const attrs = { qtype: 'per_group', axis: 1, group_shape: [1, 2] };
    expect(await runOperation('DynamicDequantize', inputs, attrs)).toEqual([[-9, -2, 0, 50]]);
  });
});
