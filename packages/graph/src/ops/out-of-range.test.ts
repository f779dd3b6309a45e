import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { runOnGpu } from '../../testing/compare/webgpu-engine.ts';
import { gradients } from '../gradients.ts';
import { Graph } from '../graph.ts';

type Run = (g: Graph, bindings: Record<number, Tensor>) => Promise<Record<number, Tensor>>;

const engines: [string, Run][] = [
  ['reference', (g, bindings) => g.run(referenceEngine(), bindings)],
  ['cpu', (g, bindings) => g.run(cpuEngine(), bindings)],
  ['webgpu', (g, bindings) => runOnGpu(g, bindings)],
];

const integers = (values: number[]) => Tensor.from(values, [values.length], { dtype: 'i32' });

/** A result, and the gradient of the first input for an upstream gradient of ones. */
async function withGradient(
  kind: 'CrossEntropy' | 'Gather',
  x: Tensor,
  at: number[],
  run: Run,
  ignore?: number,
) {
  const g = new Graph();
  const inputs = [g.tensor({ dtype: 'f32', shape: x.shape }), g.tensor({ dtype: 'i32', shape: [at.length] })];
  const y = g.tensor({ dtype: 'f32' });
  g.add({ kind, attrs: ignore === undefined ? {} : { ignore_index: ignore }, inputs, outputs: [y] });
  const bindings = { [inputs[0].id]: x, [inputs[1].id]: integers(at) };
  const result = (await run(g, bindings))[y.id];
  const backward = gradients(g, { of: y, withRespectTo: [inputs[0]] }).finalize();
  const seed = backward.seeds.get(y.id)?.id ?? -1;
  const all: Record<number, Tensor> = {
    ...bindings,
    [seed]: Tensor.from(new Array(result.size).fill(1), result.shape),
  };
  const own = Object.fromEntries(backward.inputs.map(({ id }) => [id, all[id]]));
  const made = await run(backward, own);
  const gradient = made[backward.gradients.get(inputs[0].id)?.id ?? -1];
  return { result: [...result.toFloat64()], gradient: [...gradient.toFloat64()] };
}

test.each(engines)(
  'CrossEntropy on %s ignores −100 as PyTorch does, and gives NaN for any other label out of range',
  async (_, run) => {
    const logits = Tensor.from([0, 0, 0, 0, 0, 0, 0, 0], [4, 2]);
    const { result, gradient } = await withGradient('CrossEntropy', logits, [1, -100, 2, -1], run);
    expect(result[0]).toBeCloseTo(Math.LN2, 6);
    expect(result.slice(1)).toEqual([0, NaN, NaN]);
    expect(gradient.slice(0, 4)).toEqual([0.5, -0.5, 0, 0]);
    expect(gradient.slice(4)).toEqual([NaN, NaN, NaN, NaN]);
  },
);

test.each(engines)('CrossEntropy on %s ignores the label that ignore_index names', async (_, run) => {
  const { result, gradient } = await withGradient(
    'CrossEntropy',
    Tensor.from([0, 0, 0, 0], [2, 2]),
    [1, -100],
    run,
    1,
  );
  expect(result).toEqual([0, NaN]);
  expect(gradient).toEqual([0, 0, NaN, NaN]);
});

test.each(engines)(
  'Gather on %s gives NaN for an index out of range, which has no gradient',
  async (_, run) => {
    const { result, gradient } = await withGradient(
      'Gather',
      Tensor.from([1, 2, 3, 4], [2, 2]),
      [1, 2, -1, 1],
      run,
    );
    expect(result).toEqual([3, 4, NaN, NaN, NaN, NaN, 3, 4]);
    expect(gradient).toEqual([0, 0, 2, 2]);
  },
);
