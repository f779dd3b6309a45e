import { contiguousStrides } from '../../tensor/shape.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { checkPrimitive } from '../check.ts';
import type { Primitive } from '../primitive.ts';
import type { PreparedPrimitive, Primitives } from '../primitive-engine.ts';
import { hostPlaceOf } from './host-place.ts';
import { runMap } from './map.ts';
import { runProduct } from './matmul.ts';
import { runRandom } from './random.ts';
import { runReduce } from './reduce.ts';
import { runRows } from './rows.ts';
import { runScatterAdd } from './scatter-add.ts';
import { runSoftmax } from './softmax.ts';
import { runTensorScatter } from './tensor-scatter.ts';

/** The primitives on host tensors: everything in f64, each result rounded once to its dtype. */
export const hostPrimitives: Primitives<Tensor> = {
  checkSupport: () => ({ supported: true, reasons: [] }),
  prepare(primitive, inputs, outputs) {
    checkPrimitive(primitive, inputs, outputs);
    const run = runOf(primitive);
    return {
      workspaceBytes: 0,
      run(from, to) {
        // Results without elements may have billions of rows.
        if (to.some(({ size }) => size > 0)) run(from, to);
      },
      release: () => {},
    };
  },
  allocate: ({ dtype, shape, strides }) => Tensor.zeros(shape, { dtype, strides }),
  view: (tensor, { shape, strides, offset = 0 }) =>
    Tensor.wrap(tensor.data, {
      dtype: tensor.dtype,
      shape,
      strides: strides ?? contiguousStrides(shape),
      offset: tensor.offset + offset,
    }),
  placeOf: hostPlaceOf,
};

/** The function that runs a primitive. */
function runOf(primitive: Primitive): PreparedPrimitive<Tensor>['run'] {
  switch (primitive.kind) {
    case 'map':
      return (inputs, [output]) => runMap(primitive, inputs, output);
    case 'reduce':
      return (inputs, [output]) => runReduce(primitive, inputs, output);
    case 'rows':
      return (inputs, outputs) => runRows(primitive, inputs, outputs);
    case 'matmul':
      return (inputs, [output]) => runProduct(primitive, inputs, output);
    case 'softmax':
      return (inputs, outputs) => runSoftmax(primitive, inputs, outputs);
    case 'random':
      return (inputs, [output]) => runRandom(primitive, inputs, output);
    case 'scatter-add':
      return (inputs, [output]) => runScatterAdd(inputs, output);
    case 'tensor-scatter':
      return (inputs, [output]) => runTensorScatter(primitive, inputs, output);
  }
}
