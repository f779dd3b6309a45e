import { expect, test } from 'vitest';
import { runOperation } from '../../../testing/compare/run-operation.ts';

test('the gradient of softmax equals a difference quotient', async () => {
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

test('one row of gradients for several rows of the result is used for each', async () => {
  const dy = { values: [1, -2, 0.5], shape: [1, 3] };
  const y = { values: [0.5, 0.25, 0.25, 0.125, 0.125, 0.75], shape: [2, 3] };
  const rows = { ...dy, values: [...dy.values, ...dy.values], shape: [2, 3] };
  for (const kind of ['SoftMaxBackward', 'LogSoftmaxBackward']) {
    const expected = await runOperation(kind, [rows, y], { axis: -1 });
    expect(await runOperation(kind, [dy, y], { axis: -1 })).toEqual(expected);
  }
});
