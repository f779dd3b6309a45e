import { expect, test } from 'vitest';
import { runOperation } from '../../../testing/compare/run-operation.ts';

test('the gradient of softmax is that of a difference quotient', async () => {
  const values = [0.3, -0.2, 0.9];
  const dy = [1, -2, 0.5];
  const exact = (kind: string, t: readonly number[]): number => {
    const sum = t.reduce((s, v) => s + Math.exp(v), 0);
    const y = t.map(v => (kind === 'SoftMax' ? Math.exp(v) / sum : v - Math.log(sum)));
    return y.reduce((s, v, n) => s + v * dy[n], 0);
  };
  for (const kind of ['SoftMax', 'LogSoftmax']) {
    const [y] = await runOperation(kind, [{ values }], { axis: 0 });
    const [gradient] = await runOperation(`${kind}Backward`, [{ values: dy }, { values: y }], { axis: 0 });
    gradient.forEach((slope, n) => {
      const at = (h: number) =>
        exact(
          kind,
          values.map((v, m) => (m === n ? v + h : v)),
        );
      expect(slope).toBeCloseTo((at(1e-5) - at(-1e-5)) / 2e-5, 5);
    });
  }
});
