import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOnnx } from '../../../../../../testing/compare/onnx-session.ts';
import { fromOnnx } from '../../../index.ts';
import { encodeModel } from '../../../model.ts';

// Big Transfer standardises the weights of its convolutions with it.
test('BatchNormalization in training mode uses the statistics of its input, as in onnxruntime', async () => {
  const shapes = { x: [2, 3, 4, 2], scale: [3], bias: [3], mean: [3], variance: [3] };
  const bytes = encodeModel({
    ...{ name: 'norm', opset: 15, initializers: [] },
    nodes: [
      {
        ...{ op: 'BatchNormalization', name: 'norm', inputs: Object.keys(shapes) },
        ...{ outputs: ['y', 'newMean', 'newVariance'], attributes: { training_mode: { int: 1 } } },
      },
    ],
    inputs: Object.entries(shapes).map(([name, shape]) => ({ name, type: 1, shape })),
    outputs: [{ name: 'y', type: 1, shape: null }],
  });
  const feeds = Object.fromEntries(
    Object.entries(shapes).map(([name, shape], seed) => {
      const count = shape.reduce((n, extent) => n * extent, 1);
      const values = Float32Array.from({ length: count }, (_, n) => Math.sin(1.3 * n * n + seed) + 2);
      return [name, Tensor.from(values, shape)] as const;
    }),
  );
  const model = await fromOnnx(bytes);

  const { y } = await model.run(cpuEngine(), feeds);
  const wanted = (await runOnnx(bytes, feeds)).y?.toFloat32() ?? new Float32Array();
  expect(wanted).toHaveLength(48);
  wanted.forEach((number, n) => {
    expect(y?.toFloat32()[n], `y[${n}]`).toBeCloseTo(number, 4);
  });
  model.release();
});
