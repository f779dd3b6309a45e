import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { integerRange } from '../../file/element-type.ts';
import { NodeCall, type NodeResult, type OnnxOperator, result } from '../../node-call.ts';
import { integerProductOperators } from './integer-products.ts';

/**
 * The inputs of a quantised product or convolution: operands, each with its scale and zero point, and those
 * of the result.
 */
const at = { a: 0, b: 3, aZero: 2, bZero: 5, aScale: 1, bScale: 4, yScale: 6, yZero: 7, bias: 8 } as const;

/**
 * Quantises an integer product again: round(product · aScale · bScale / yScale) + yZero, saturated.
 * @param listed gives a list of scales the shape that it broadcasts from.
 */
export function requantized(
  call: NodeCall,
  product: OnnxOperator,
  listed: (list: LogicalTensor, n: number) => LogicalTensor,
): NodeResult {
  const { draft } = call;
  const operands = [at.a, at.b, at.aZero, at.bZero].map(n => call.optional(n));
  const [{ shape, emit }] = [product(new NodeCall(call.node, call.version, call, operands))].flat();
  const type = call.input(at.yZero).type;
  return result({ type, shape }, () => {
    const scale = (n: number): LogicalTensor => {
      const own = call.input(n);
      const wide = draft.cast(own.tensor(), 'f32');
      return own.shape.length === 1 ? listed(wide, n) : wide;
    };
    const sums = emit?.() ?? call.refuse('has no product');
    const bias = call.optional(at.bias)?.tensor();
    const whole = bias ? draft.op('Add', [sums, draft.channels(bias, shape.length)], {}, 'i32') : sums;
    const factor = draft.op('Multiply', [scale(at.aScale), scale(at.bScale)]);
    const ratio = draft.op('Divide', [factor, scale(at.yScale)]);
    const steps = draft.op('Round', [draft.op('Multiply', [draft.cast(whole, 'f32'), ratio])]);
    const zero = draft.cast(call.input(at.yZero).tensor(), 'f32');
    return draft.cast(draft.op('Clamp', [draft.op('Add', [steps, zero])], integerRange(type)), type.dtype);
  });
}

/** A product of quantised matrices. A list of scales has one for each row of a, or each column of b. */
const qLinearMatMul: OnnxOperator = call =>
  requantized(call, integerProductOperators.MatMulInteger, (list, n) =>
    n === at.aScale ? call.draft.reshape(list, [...(list.shape ?? []), 1]) : list,
  );

/** Products of quantised matrices whose result is quantised again. */
export const quantizedProductOperators: Readonly<Record<string, OnnxOperator>> = {
  QLinearMatMul: qLinearMatMul,
};
