import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { checkGradients } from '../../../testing/compare/check-gradients.ts';
import { runOperation } from '../../../testing/compare/run-operation.ts';
import { gradients } from '../../gradients.ts';

const [S, D, R] = [3, 6, 4];
const angles = Array.from({ length: (S * R) / 2 }, (_, n) => 0.3 * n + 0.1);
const src = { values: Array.from({ length: 2 * S * D }, (_, n) => Math.sin(n + 1)), shape: [2, S, D] };
const table = (of: (x: number) => number) => ({ values: angles.map(of), shape: [S, R / 2] });

/** The first R elements, with each pair rotated by its angle. */
function rotated(interleaved: boolean): number[] {
  const result = [...src.values];
  for (let row = 0; row < 2 * S; row++) {
    for (let n = 0; n < R / 2; n++) {
      const angle = angles[(row % S) * (R / 2) + n];
      const [a, b] = interleaved ? [2 * n, 2 * n + 1] : [n, n + R / 2];
      const [x, y] = [src.values[row * D + a], src.values[row * D + b]];
      result[row * D + a] = x * Math.cos(angle) - y * Math.sin(angle);
      result[row * D + b] = y * Math.cos(angle) + x * Math.sin(angle);
    }
  }
  return result;
}

test.each([false, true])('pairs are rotated, with interleaved %s, and the rest stays', async interleaved => {
  const inputs = [src, table(Math.cos), table(Math.sin)];
  const [got] = await runOperation('RotaryEmbedding', inputs, { interleaved });
  const expected = rotated(interleaved);
  for (const [n, x] of got.entries()) expect(x).toBeCloseTo(expected[n], 6);
  const [back] = await runOperation('RotaryEmbedding', [{ ...src, values: got }, ...inputs.slice(1)], {
    interleaved,
    inverse: true,
  });
  for (const [n, x] of back.entries()) expect(x).toBeCloseTo(src.values[n], 6);
});

test('tables that do not fit are refused', async () => {
  const wide = { values: Array.from({ length: 12 }, () => 1), shape: [3, 4] };
  await expect(runOperation('RotaryEmbedding', [src, wide, wide])).rejects.toThrow(
    'cannot rotate [2,3,6] by tables [3,4]',
  );
  const number = { values: [1], shape: [] };
  await expect(runOperation('RotaryEmbedding', [src, number, number])).rejects.toThrow(
    'cannot rotate [2,3,6] by tables []',
  );
});

test.each([false, true])('its gradient, with interleaved %s', async interleaved => {
  const g = new GraphBuilder();
  const x = g.input([2, S, D]);
  const [cos, sin] = [Math.cos, Math.sin].map(of => g.input([S, R / 2], { values: angles.map(of) }));
  await checkGradients(g, g.op('RotaryEmbedding', [x, cos, sin], { interleaved }), [x]);
});

test('a gradient of the tables is refused', () => {
  const g = new GraphBuilder();
  const [x, cos, sin] = [g.input([2, S, D]), g.input([S, R / 2]), g.input([S, R / 2])];
  const y = g.op('RotaryEmbedding', [x, cos, sin], {});
  g.graph.finalize();
  expect(() => gradients(g.graph, { of: y, withRespectTo: [x, cos] })).toThrow(
    'no gradient with respect to cos and sin',
  );
});
