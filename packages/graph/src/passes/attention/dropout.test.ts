import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

describe('dropout', () => {
  const dropped = (drop: (g: GraphBuilder, p: LogicalTensor) => LogicalTensor): GraphBuilder => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    g.op('MatMul', [drop(g, g.softmax(s)[0]), g.input([B, H, Skv, Dv])]);
    return g;
  };
  const stream = (g: GraphBuilder): LogicalTensor[] => [g.scalar(123456n, 'i64'), g.scalar(1n, 'i64')];

  test.each([0, 0.25, 1])('as an operation with p = %d', async p => {
    const g = dropped((g, x) => g.op('Dropout', [x, ...stream(g), g.scalar(p)]));
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });

  test('with p as an attribute', async () => {
    const g = dropped((g, x) => g.op('Dropout', [x, ...stream(g)], { p: 0.5 }));
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });

  test('written as RNG and two products, with any factor', async () => {
    const g = dropped((g, x) => {
      const keep = g.op('RNG', [x, ...stream(g)], { p: 0.25 });
      return g.op('Multiply', [g.op('Multiply', [x, keep]), g.scalar(1.1)]);
    });
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });
});
