import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { fromOnnx } from '../../../index.ts';
import { encodeModel } from '../../../model.ts';

test('TopK returns integers beyond the 24 bits of f32 unchanged', async () => {
  const bytes = encodeModel({
    ...{ name: 'TopK', opset: 11 },
    nodes: [
      {
        ...{ op: 'TopK', name: 'TopK', inputs: ['x', 'k'], outputs: ['y', 'n'] },
        attributes: { largest: { int: 0 } },
      },
    ],
    initializers: [{ name: 'k', type: 7, shape: [1], data: new Uint8Array(BigInt64Array.of(2n).buffer) }],
    inputs: [{ name: 'x', type: 6, shape: [3] }],
    outputs: ['y', 'n'].map((name, n) => ({ name, type: n + 6, shape: null })),
  });
  const model = await fromOnnx(bytes);
  const x = Tensor.from([808427181, -99846913, 900000001], [3], { dtype: 'i32' });
  const { y, n } = await model.run(cpuEngine(), { x });
  expect(Array.from(y?.toFloat64() ?? [])).toEqual([-99846913, 808427181]);
  expect(Array.from(n?.toFloat64() ?? [])).toEqual([1, 0]);
  model.release();
});
