import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { floatType, int32Type, uint8Type } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { once } from '../../once.ts';
import { productShape } from '../products/products.ts';

/** The number of byte products whose sum is exact in f32: 255 · 255 · 258 < 2^24. */
const maxExactTerms = 258;

/**
 * Input n, which has bytes, minus its zero point, in f32. A zero point is one number, or one per index of the
 * dimension that `after` dimensions follow.
 */
export function centred(call: NodeCall, n: number, pointAt: number, after: number): LogicalTensor {
  const { draft } = call;
  const x = draft.cast(call.input(n).tensor(), 'f32');
  const point = call.optional(pointAt);
  if (!point) return x;
  const zero = draft.cast(point.tensor(), 'f32');
  const isList = point.shape.length === 1;
  const ones = new Array<number>(after).fill(1);
  return draft.op('Subtract', [x, isList ? draft.reshape(zero, [...point.shape, ...ones]) : zero]);
}

/**
 * The exact product of matrices of small integers in f32, as i32: parts of the rows are summed in f32, and
 * the parts in i32.
 */
export function exactProduct({ draft }: NodeCall, x: LogicalTensor, y: LogicalTensor): LogicalTensor {
  const axes = [shapeOf(x).length - 1, Math.max(0, shapeOf(y).length - 2)];
  const inner = shapeOf(x)[axes[0]];
  const parts: LogicalTensor[] = [];
  for (let start = 0; start < (inner || 1); start += maxExactTerms) {
    const size = Math.min(maxExactTerms, inner - start);
    const part = [x, y].map((t, n) => draft.slice(t, { axis: axes[n], start, size }));
    parts.push(draft.cast(draft.op('MatMul', part), 'i32'));
  }
  return parts.reduce((sum, part) => draft.op('Add', [sum, part], {}, 'i32'));
}

const matMulInteger: OnnxOperator = call => {
  const shape = productShape(call, call.shape(0), call.shape(1));
  return result({ type: int32Type, shape }, () =>
    exactProduct(call, centred(call, 0, 2, 1), centred(call, 1, 3, 0)),
  );
};

/** Floats as bytes: x ≈ (bytes − zero) · scale. All are f32. */
interface DynamicBytes {
  readonly bytes: LogicalTensor;
  readonly zero: LogicalTensor;
  readonly scale: LogicalTensor;
}

/** Quantizes x to bytes. The scale and the zero point follow from x's smallest and largest number and 0. */
export function dynamicBytes({ draft }: NodeCall, x: LogicalTensor): DynamicBytes {
  const number = (value: number): LogicalTensor => draft.scalar(value, 'f32');
  const bytes = (of: LogicalTensor): LogicalTensor =>
    draft.op('Clamp', [draft.op('Round', [of])], { min: 0, max: 255 });
  const list = draft.reshape(x, [elementCount(shapeOf(x))]);
  const extreme = (kind: 'Max' | 'Min'): LogicalTensor =>
    draft.op(`${kind}imum`, [draft.op(`Reduce${kind}`, [list], { axes: [0], keep_dims: false }), number(0)]);
  const least = extreme('Min');
  const scale = draft.op('Divide', [draft.op('Subtract', [extreme('Max'), least]), number(255)]);
  const zero = bytes(draft.op('Divide', [draft.op('Neg', [least]), scale]));
  const steps = draft.op('Round', [draft.op('Divide', [x, scale])]);
  return { bytes: bytes(draft.op('Add', [steps, zero])), zero, scale };
}

const dynamicQuantizeLinear: OnnxOperator = call => {
  const { shape, tensor } = call.input(0);
  const { draft } = call;
  const made = once(() => dynamicBytes(call, tensor()));
  return [
    result({ type: uint8Type, shape }, () => draft.cast(made().bytes, 'u8')),
    result({ type: floatType, shape: [] }, () => made().scale),
    result({ type: uint8Type, shape: [] }, () => draft.cast(made().zero, 'u8')),
  ];
};

/** Byte products in quantised transformers. */
export const integerProductOperators: Readonly<Record<string, OnnxOperator>> = {
  DynamicQuantizeLinear: dynamicQuantizeLinear,
  MatMulInteger: matMulInteger,
};
