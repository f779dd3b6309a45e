import { checkOnHost } from '../../tensor/checks/check-on-host.ts';
import { contiguousStrides } from '../../tensor/shape.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { checkPrimitive } from '../check.ts';
import type { Primitive } from '../primitive.ts';
import type { Primitives } from '../primitive-engine.ts';
import { runMap } from './map.ts';
import { runProduct } from './matmul.ts';
import { runRandom } from './random.ts';
import { runReduce } from './reduce.ts';
import { runRows } from './rows.ts';
import { runScatterAdd } from './scatter-add.ts';
import { runSoftmax } from './softmax.ts';
import { runTensorScatter } from './tensor-scatter.ts';

/** The plain operations on host tensors: everything in f64, each result rounded once to its dtype. */
export const hostPrimitives: Primitives<Tensor> = {
  checkSupport: () => ({ supported: true, reasons: [] }),
  prepare(primitive, inputs, outputs) {
    checkPrimitive(primitive, inputs, outputs);
    return { workspaceBytes: 0, run: (from, to) => run(primitive, from, to), release: () => {} };
  },
  allocate: ({ dtype, shape, strides }) => Tensor.zeros(shape, { dtype, strides }),
  view: (tensor, { shape, strides, offset = 0 }) =>
    Tensor.wrap(tensor.data, {
      dtype: tensor.dtype,
      shape,
      strides: strides ?? contiguousStrides(shape),
      offset: tensor.offset + offset,
    }),
  placeOf(tensor) {
    checkOnHost({ tensor });
    const { data, offset } = tensor;
    return { memory: data.buffer, byteOffset: data.byteOffset + offset * data.BYTES_PER_ELEMENT };
  },
};

function run(primitive: Primitive, inputs: readonly Tensor[], outputs: readonly Tensor[]): void {
  switch (primitive.kind) {
    case 'map':
      runMap(primitive, inputs, outputs[0]);
      break;
    case 'reduce':
      runReduce(primitive, inputs, outputs[0]);
      break;
    case 'rows':
      runRows(primitive, inputs, outputs);
      break;
    case 'matmul':
      runProduct(primitive, inputs, outputs[0]);
      break;
    case 'softmax':
      runSoftmax(primitive, inputs, outputs);
      break;
    case 'random':
      runRandom(primitive, inputs, outputs[0]);
      break;
    case 'scatter-add':
      runScatterAdd(inputs, outputs[0]);
      break;
    case 'tensor-scatter':
      runTensorScatter(primitive, inputs, outputs[0]);
  }
}
