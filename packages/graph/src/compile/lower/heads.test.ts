import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { indexMask } from '../../../testing/attention/score-steps.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

describe('heads', () => {
  test('five dimensions share keys among groups', async () => {
    const g = new GraphBuilder();
    const q = g.input([B, 2, 3, Sq, D]);
    const k = g.input([B, 2, 1, Skv, D]);
    const v = g.input([B, 2, 1, Skv, Dv]);
    const s = indexMask({})(
      g,
      g.op('Add', [g.op('MatMul', [q, k], { transpose_b: true }), g.input([B, 1, 3, 1, Skv])]),
    );
    g.op('MatMul', [g.softmax(s)[0], v]);
    expect((await expectSame(g.graph, g.bindings)).map(p => p.kind)).toEqual(['sdpa-training']);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });

  test('one head for all, three dimensions, and two', async () => {
    for (const [q, k] of [
      [
        [B, H, Sq, D],
        [B, 1, Skv, D],
      ],
      [
        [B, H, Sq, D],
        [1, 1, Skv, D],
      ],
      [
        [B, Sq, D],
        [B, Skv, D],
      ],
      [
        [Sq, D],
        [Skv, D],
      ],
    ]) {
      const g = new GraphBuilder();
      const keys = g.input(k);
      const s = g.op('MatMul', [g.input(q), keys], { transpose_b: true });
      g.op('MatMul', [g.softmax(s)[0], g.input([...k.slice(0, -1), Dv])]);
      await expectSame(g.graph, g.bindings);
      expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
    }
  });

  test('transposed products (JAX)', async () => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, D, Skv])]);
    const p = g.op('Reorder', [
      g.op('StaticTranspose', [g.op('SoftMax', [s], { axis: 3 })], { order: [0, 1, 3, 2] }),
    ]);
    g.op('StaticTranspose', [g.op('MatMul', [g.input([B, H, Dv, Skv]), p])], { order: [0, 3, 1, 2] });
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa attention']);
  });
});
