import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { backwardOf } from '../../../testing/compare/check-gradients.ts';

/** The gradient of the loss of probabilities with respect to the scores that a softmax with stats read. */
async function gradientOf(dtype: 'f32' | 'f16' | 'bf16'): Promise<number[]> {
  const g = new GraphBuilder();
  const scores = g.input([2, 3], { dtype, values: [0.5, -1, 2, 0, 1, -0.5] });
  const [probabilities, stats] = ([dtype, 'f32'] as const).map(own => g.graph.tensor({ dtype: own }));
  const attrs = { axis: -1 };
  g.graph.op('SoftMax', { attrs, inputs: [scores], outputs: [probabilities, stats] });
  const labels = g.input([2], { dtype: 'i32', values: [2, 0] });
  const loss = g.op('CrossEntropy', [probabilities, labels]);
  const { backward, own } = await backwardOf(g, loss, [scores], () => 1);
  const results = await backward.run(referenceEngine(), own);
  return [...results[backward.gradients.get(scores.id)?.id ?? -1].toFloat64()];
}

test('the loss of 16-bit probabilities that are recomputed from stats has a gradient', async () => {
  const exact = await gradientOf('f32');
  const worst = async (dtype: 'f16' | 'bf16'): Promise<number> =>
    Math.max(...(await gradientOf(dtype)).map((x, n) => Math.abs(x - exact[n])));
  // Probabilities and gradients below 1 are rounded to 11 or 8 bits.
  expect(await worst('f16')).toBeLessThan(2 ** -10);
  expect(await worst('bf16')).toBeLessThan(2 ** -7);
  expect(Math.abs(exact[0])).toBeGreaterThan(0.01);
});
