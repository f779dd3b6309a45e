import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { backwardOf, checkGradients } from '../../testing/compare/check-gradients.ts';
import { runOperation } from '../../testing/compare/run-operation.ts';

const geometry = { strides: [2, 1], pads_begin: [1, 0], pads_end: [0, 1], dilations: [1, 2], groups: 2 };
const [N, C, H, W] = [2, 4, 5, 4];
const [O, I, KH, KW] = [4, 2, 3, 2];
const numbers = (count: number, seed: number) =>
  Array.from({ length: count }, (_, n) => Math.sin(n * n + seed));
const src = { values: numbers(N * C * H * W, 1), shape: [N, C, H, W] };
const weights = { values: numbers(O * I * KH * KW, 2), shape: [O, I, KH, KW] };
const bias = { values: numbers(O, 3), shape: [O] };

/** Convolution by its definition, with groups of two output channels. */
function expected(): number[] {
  const result: number[] = [];
  const at = (n: number, c: number, y: number, x: number): number =>
    y < 0 || y >= H || x < 0 || x >= W ? 0 : src.values[((n * C + c) * H + y) * W + x];
  for (let n = 0; n < N; n++)
    for (let o = 0; o < O; o++)
      for (let y = 0; y < 2; y++)
        for (let x = 0; x < 3; x++) {
          let sum = bias.values[o];
          for (let c = 0; c < I; c++)
            for (let ky = 0; ky < KH; ky++)
              for (let kx = 0; kx < KW; kx++)
                sum +=
                  weights.values[((o * I + c) * KH + ky) * KW + kx] *
                  at(n, Math.floor(o / 2) * I + c, 2 * y + ky - 1, x + 2 * kx);
          result.push(sum);
        }
  return result;
}

test('Convolution with strides, padding, dilation and groups', async () => {
  const [got] = await runOperation('Convolution', [src, weights, bias], geometry);
  const wanted = expected();
  expect(got).toHaveLength(wanted.length);
  for (const [n, x] of got.entries()) expect(x).toBeCloseTo(wanted[n], 5);
});

test('in one dimension', async () => {
  const attrs = { strides: [1], pads_begin: [0], pads_end: [0], dilations: [1] };
  const line = { values: [1, 2, 3, 4], shape: [1, 1, 4] };
  expect(await runOperation('Convolution', [line, { values: [1, -1], shape: [1, 1, 2] }], attrs)).toEqual([
    [-1, -1, -1],
  ]);
});

test('its gradients', async () => {
  const g = new GraphBuilder();
  const inputs = [src, weights, bias].map(({ shape }) => g.input(shape));
  await checkGradients(g, g.op('Convolution', inputs, geometry), inputs);
});

test.each([
  ['strides, padding, dilation and groups', geometry, [N, O, 2, 3]],
  [
    'steps that leave out elements',
    { strides: [3, 3], pads_begin: [0, 0], pads_end: [1, 0], dilations: [1, 1], groups: 1 },
    [N, O, 2, 1],
  ],
])('the gradients of its gradients with %s', async (_, attributes, dstShape) => {
  const weightsShape = [O, C / attributes.groups, KH, KW];
  for (const [kind, shapes, shape] of [
    ['ConvolutionBackwardData', [dstShape, weightsShape], src.shape],
    ['ConvolutionBackwardWeights', [src.shape, dstShape], weightsShape],
  ] as const) {
    const g = new GraphBuilder();
    const inputs = shapes.map(own => g.input(own));
    await checkGradients(g, g.op(kind, inputs, { ...attributes, shape }), inputs);
  }
});

test('its gradients in 16 bits, from an f32 gradient of its result', async () => {
  const g = new GraphBuilder();
  const half = (values: number[]) => g.input([1, 1, values.length], { dtype: 'f16', values });
  const inputs = [half([1, 2, 3]), half([4, -1])];
  const line = { strides: [1], pads_begin: [0], pads_end: [0], dilations: [1] };
  const y = g.op('Convolution', inputs, line, 'f16');
  const product = g.op('Multiply', [y, g.input([1, 1, 2], { values: [1, 10] })]);
  const { backward, own } = await backwardOf(g, product, inputs, () => 1);
  const results = await backward.run(cpuEngine(), own);
  const gradients = inputs.map(({ id }) => results[backward.gradients.get(id)?.id ?? -1]);
  expect(gradients.map(({ dtype }) => dtype)).toEqual(['f16', 'f16']);
  expect(gradients.map(t => [...t.toFloat64()])).toEqual([
    [4, 39, -10],
    [21, 32],
  ]);
});

test('what does not fit is refused', async () => {
  await expect(runOperation('Convolution', [src, weights], { ...geometry, groups: 1 })).rejects.toThrow(
    'does not split into 1 groups',
  );
  await expect(runOperation('Convolution', [src, weights], { ...geometry, strides: [1] })).rejects.toThrow(
    'needs 2 strides',
  );
  await expect(
    runOperation('Convolution', [src, weights], { ...geometry, dilations: [9, 9] }),
  ).rejects.toThrow('larger than the padded input');
});
