import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { floatType } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { withBias } from '../products/bias.ts';
import { productShape } from '../products/products.ts';
import { centred, dynamicBytes, exactProduct } from './integer-products.ts';

/** A product of integers as floats: multiplied by both scales, plus the bias in input n. */
function rescaled(
  call: NodeCall,
  product: LogicalTensor,
  scales: readonly [LogicalTensor, LogicalTensor],
  bias: number,
): LogicalTensor {
  const { draft } = call;
  const scaled = draft.op('Multiply', [draft.cast(product, 'f32'), draft.op('Multiply', scales)]);
  return withBias(call, scaled, bias);
}

/** com.microsoft's product of byte matrices as floats. The scales are inputs 2 and 3. */
export const matMulIntegerToFloat: OnnxOperator = call => {
  const shape = productShape(call, call.shape(0), call.shape(1));
  return result({ type: floatType, shape }, () => {
    const product = exactProduct(call, centred(call, 0, 4, 1), centred(call, 1, 5, 0));
    return rescaled(call, product, [call.input(2).tensor(), call.input(3).tensor()], 6);
  });
};

/** com.microsoft's product of floats, which are quantized when the graph runs, and a byte matrix. */
export const dynamicQuantizeMatMul: OnnxOperator = call => {
  const shape = productShape(call, call.shape(0), call.shape(1));
  return result({ type: floatType, shape }, () => {
    const { bytes, zero, scale } = dynamicBytes(call, call.input(0).tensor());
    const x = call.draft.op('Subtract', [bytes, zero]);
    const product = exactProduct(call, x, centred(call, 1, 3, 0));
    return rescaled(call, product, [scale, call.input(2).tensor()], 4);
  });
};
