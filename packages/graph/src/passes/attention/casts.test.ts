import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

type Change = (g: GraphBuilder, x: LogicalTensor) => LogicalTensor;

const same: Change = (_, x) => x;

/** softmax(scores(q·kᵀ)), changed, times v. */
function attention({ scores = same, probabilities = same }: Record<string, Change>): GraphBuilder {
  const g = new GraphBuilder();
  const [q, k, v] = [5, 7, 7].map(S => g.input([2, 3, S, 4]));
  const s = scores(g, g.op('MatMul', [q, k], { transpose_b: true }));
  const p = probabilities(g, g.op('SoftMax', [s], { axis: -1 }));
  g.op('MatMul', [p, v]);
  return g;
}

const castThrough =
  (dtype: GraphDType): Change =>
  (g, x) =>
    g.op('TypeCast', [g.op('TypeCast', [x], {}, dtype)]);

describe.each(['scores', 'probabilities'])('%s', name => {
  test.each(['i32', 'u32', 'bool'] as const)('that are cast to %s are not part of attention', async dtype => {
    const { graph, bindings } = attention({ [name]: castThrough(dtype) });
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings).join()).not.toContain('attention');
  });

  test('that are rounded to 16 bits are part of attention', () => {
    const { graph, bindings } = attention({ [name]: castThrough('f16') });
    expect(kernelsOf(graph.finalize(), bindings).join()).toContain('attention');
  });
});

test('a softmax of comparisons of scores is not attention', async () => {
  const { graph, bindings } = attention({
    scores: (g, s) =>
      g.op('Add', [g.op('TypeCast', [g.op('Greater', [s, g.input([1])], {}, 'bool')]), g.input([5, 7])]),
  });
  await expectSame(graph, bindings);
});
