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
