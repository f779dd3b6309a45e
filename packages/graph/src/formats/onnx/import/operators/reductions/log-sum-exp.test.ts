import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { fromOnnx } from '../../../index.ts';
import { encodeModel } from '../../../model.ts';

test.each([
  ['f32', 1],
  ['f16', 10],
  ['bf16', 16],
] as const)('ReduceLogSumExp of %s with an infinity is the infinity', async (dtype, type) => {
  const bytes = encodeModel({
    ...{ name: 'sum', opset: 13, initializers: [] },
    nodes: [
      {
        ...{ op: 'ReduceLogSumExp', name: 'sum', inputs: ['x'], outputs: ['y'] },
        attributes: { axes: { ints: [1] } },
      },
    ],
    inputs: [{ name: 'x', type, shape: [3, 2] }],
    outputs: [{ name: 'y', type, shape: null }],
  });
  const model = await fromOnnx(bytes);
  const x = Tensor.from([1, Infinity, -Infinity, -Infinity, 2, -Infinity], [3, 2], { dtype });
  const { y } = await model.run(cpuEngine(), { x });
  expect([...y.toFloat64()]).toEqual([Infinity, -Infinity, 2]);
  model.release();
});
