import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { scaled } from '../../../testing/attention/score-steps.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

describe('probabilities in 8 bits', () => {
  const rounded = (
    dtype: 'u8' | 'i8' | 'f8e4m3' | 'f8e5m2',
    to: Record<string, number | string | readonly number[]>,
    back = to,
    drop = false,
  ): GraphBuilder => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    let p = g.softmax(scaled(g, s))[0];
    if (drop) p = g.op('Dropout', [p, g.scalar(5n, 'i64'), g.scalar(1n, 'i64')], { p: 0.25 });
    p = g.op('Dequantize', [g.op('Quantize', [p], to, dtype)], back);
    g.op('Quantize', [g.op('MatMul', [p, g.input([B, H, Skv, Dv])])], { scales: [0.02] }, 'i8');
    return g;
  };

  test.each([
    ['u8', { scales: [1 / 255] }],
    ['u8', { scales: [1 / 128], zps: [7] }],
    ['i8', { scales: [1 / 256], zps: [-128] }],
    ['f8e4m3', { scales: [1 / 448] }],
    ['f8e5m2', { scales: [1] }],
  ] as const)('%s, %j', async (dtype, attrs) => {
    const { graph, bindings } = rounded(dtype, attrs);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa attention']);
  });

  test('are rounded after dropout, and may be dequantised with another scale', async () => {
    const { graph, bindings } = rounded('u8', { scales: [1 / 64] }, { scales: [1 / 63] }, true);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa attention']);
  });

  test.each([
    [
      { scales: [0.1], zps: [3] },
      { scales: [0.1], zps: [4] },
    ],
    [
      { scales: [0.1], zps: [300] },
      { scales: [0.1], zps: [300] },
    ],
    [{ scales: [-0.1] }, { scales: [-0.1] }],
    [
      { scales: [0.1, 0.2, 0.3], qtype: 'per_channel', axis: 1 },
      { scales: [0.1, 0.2, 0.3], qtype: 'per_channel', axis: 1 },
    ],
  ])('that no call rounds so: %j, back %j', async (to, back) => {
    const { graph, bindings } = rounded('u8', to, back);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa operations']);
  });
});

describe('probabilities that are multiplied before they are rounded, with their largest value as a result', () => {
  const by1 = { scales: [1] };
  /** @param factor the factor of the probabilities. */
  const multiplied = (
    factor: readonly number[],
    to: { scales: number[] },
    axes: readonly number[],
  ): GraphBuilder => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    const p = g.softmax(scaled(g, s))[0];
    const values = Array.from({ length: factor.reduce((n, x) => n * x, 1) }, (_, n) => 448 - n);
    const times = g.op('Multiply', [g.input(factor, { values }), p]);
    g.op('ReduceMax', [p], { axes, keep_dims: true });
    const back = g.op('Dequantize', [g.op('Quantize', [times], to, 'f8e4m3')], by1);
    g.op('MatMul', [back, g.input([B, H, Skv, Dv])]);
    return g;
  };

  test('are one call', async () => {
    const { graph, bindings } = multiplied([1, 1, 1, 1], by1, [0, 1, 2, 3]);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa attention']);
  });

  test.each([
    ['by a number for each key', [Skv], by1, [0, 1, 2, 3]],
    ['and divided', [1], { scales: [0.5] }, [0, 1, 2, 3]],
    ['and the largest of each row is taken', [1], by1, [-1]],
  ] as const)('are none %s', async (_, factor, { scales }, axes) => {
    const { graph, bindings } = multiplied(factor, { scales: [...scales] }, axes);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa operations']);
  });
});
