import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { elementTypes, f32, int, modelOf } from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';

const { F32 } = elementTypes;

test('LayerNormalization gives its mean in the type that stash_type names', async () => {
  const F16 = 10;
  const bytes = modelOf({
    ...{ op: 'LayerNormalization', opset: 17, inputs: [[1, 3], f32([1, 1, 1])] },
    ...{ attributes: { stash_type: int(F16) }, types: [F32, F16] },
  });
  const model = await fromOnnx(bytes);
  const { y0, y1 } = await model.run(cpuEngine(), { x0: Tensor.from([2049, 2049, 2049], [1, 3]) });
  expect([y0?.dtype, y1?.dtype]).toEqual(['f32', 'f16']);
  expect(Array.from(y1?.toFloat64() ?? [])).toEqual([2048]);
  model.release();
});
