import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { elementTypeOf, floatType } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { once } from '../../once.ts';
import { productShape } from './products.ts';

/** The number of byte products whose sum is exact in f32: 255 · 255 · 258 < 2^24. */
const maxExactTerms = 258;

/** Bytes minus their zero point, in f32. A zero point is one number, or one per row or column. */
function centred(call: NodeCall, n: number, pointAt: number, isColumn: boolean): LogicalTensor {
  const { draft } = call;
  const x = draft.cast(call.input(n).tensor(), 'f32');
  const point = call.optional(pointAt);
  if (!point) return x;
  const zero = draft.cast(point.tensor(), 'f32');
  const [count = 1] = point.shape;
  const aligned = isColumn && point.shape.length === 1 ? draft.reshape(zero, [count, 1]) : zero;
  return draft.op('Subtract', [x, aligned]);
}

/** The exact product of byte matrices, as i32: parts of the rows are summed in f32, and the parts in i32. */
const matMulInteger: OnnxOperator = call => {
  const [a, b] = [call.input(0), call.input(1)];
  const { draft } = call;
  return result({ type: elementTypeOf(6) ?? a.type, shape: productShape(call, a.shape, b.shape) }, () => {
    const [x, y] = [centred(call, 0, 2, true), centred(call, 1, 3, false)];
    const axes = [shapeOf(x).length - 1, Math.max(0, shapeOf(y).length - 2)];
    const inner = shapeOf(x)[axes[0]];
    const parts: LogicalTensor[] = [];
    for (let start = 0; start < (inner || 1); start += maxExactTerms) {
      const size = Math.min(maxExactTerms, inner - start);
      const part = [x, y].map((t, n) => draft.slice(t, { axis: axes[n], start, size }));
      parts.push(draft.cast(draft.op('MatMul', part), 'i32'));
    }
    return parts.reduce((sum, part) => draft.op('Add', [sum, part], {}, 'i32'));
  });
};

/**
 * Quantizes x to u8 with one scale and one zero point, which follow from its smallest and largest number and
 * 0.
 */
const dynamicQuantizeLinear: OnnxOperator = call => {
  const { shape, tensor } = call.input(0);
  const { draft } = call;
  const u8 = elementTypeOf(2) ?? floatType;
  const number = (value: number): LogicalTensor => draft.scalar(value, 'f32');
  const bytes = (x: LogicalTensor): LogicalTensor =>
    draft.op('Clamp', [draft.op('Round', [x])], { min: 0, max: 255 });
  const parameters = once(() => {
    const x = draft.reshape(tensor(), [elementCount(shape)]);
    const extreme = (kind: 'Max' | 'Min'): LogicalTensor =>
      draft.op(`${kind}imum`, [draft.op(`Reduce${kind}`, [x], { axes: [0], keep_dims: false }), number(0)]);
    const least = extreme('Min');
    const scale = draft.op('Divide', [draft.op('Subtract', [extreme('Max'), least]), number(255)]);
    return { scale, zero: bytes(draft.op('Divide', [draft.op('Neg', [least]), scale])) };
  });
  const quantized = result({ type: u8, shape }, () => {
    const { scale, zero } = parameters();
    const steps = draft.op('Round', [draft.op('Divide', [tensor(), scale])]);
    return draft.cast(bytes(draft.op('Add', [steps, zero])), 'u8');
  });
  return [
    quantized,
    result({ type: floatType, shape: [] }, () => parameters().scale),
    result({ type: u8, shape: [] }, () => draft.cast(parameters().zero, 'u8')),
  ];
};

/** Byte products in quantised transformers. */
export const integerProductOperators: Readonly<Record<string, OnnxOperator>> = {
  DynamicQuantizeLinear: dynamicQuantizeLinear,
  MatMulInteger: matMulInteger,
};
