import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { integerRange } from '../../file/element-type.ts';
import { NodeCall, type NodeResult, type OnnxOperator, result } from '../../node-call.ts';
import { convolutionOperators } from '../images/convolution.ts';
import { integerProductOperators } from '../products/integer-products.ts';

/** The inputs of both products: operands, each with its scale and zero point, and those of the result. */
const order = { a: 0, b: 3, aZero: 2, bZero: 5, aScale: 1, bScale: 4, yScale: 6, yZero: 7, bias: 8 } as const;

/**
 * Quantises an integer product again: round(product · aScale · bScale / yScale) + yZero, saturated.
 * @param listed gives a list of scales the shape that it broadcasts from.
 */
function requantized(
  call: NodeCall,
  product: OnnxOperator,
  listed: (list: LogicalTensor, n: number) => LogicalTensor,
): NodeResult {
  const { draft } = call;
  const operands = [order.a, order.b, order.aZero, order.bZero].map(n => call.optional(n));
  const [{ shape, emit }] = [product(new NodeCall(call.node, call.version, call, operands))].flat();
  const type = call.input(order.yZero).type;
  return result({ type, shape }, () => {
    const scale = (n: number): LogicalTensor => {
      const own = call.input(n);
      const wide = draft.cast(own.tensor(), 'f32');
      return own.shape.length === 1 ? listed(wide, n) : wide;
    };
    const sums = emit?.() ?? call.refuse('has no product');
    const bias = call.optional(order.bias)?.tensor();
    const whole = bias ? draft.op('Add', [sums, draft.channels(bias, shape.length)], {}, 'i32') : sums;
    const factor = draft.op('Multiply', [scale(order.aScale), scale(order.bScale)]);
    const ratio = draft.op('Divide', [factor, scale(order.yScale)]);
    const steps = draft.op('Round', [draft.op('Multiply', [draft.cast(whole, 'f32'), ratio])]);
    const zero = draft.cast(call.input(order.yZero).tensor(), 'f32');
    return draft.cast(draft.op('Clamp', [draft.op('Add', [steps, zero])], integerRange(type)), type.dtype);
  });
}

/** A product of quantised matrices. A list of scales has one for each row of a, or each column of b. */
export const qLinearMatMul: OnnxOperator = call =>
  requantized(call, integerProductOperators.MatMulInteger, (list, n) =>
    n === order.aScale ? call.draft.reshape(list, [...(list.shape ?? []), 1]) : list,
  );

/** A convolution of quantised images. A list of scales has one for each filter. */
export const qLinearConv: OnnxOperator = call =>
  requantized(call, convolutionOperators.ConvInteger, list =>
    call.draft.channels(list, call.shape(order.a).length),
  );
