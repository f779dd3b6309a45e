import { flagOf, numberOf, numbersOf } from '../../../ir/schema/attribute.ts';
import { storageDType } from '../../../ir/tensor/dtype.ts';
import { axisOf } from '../../../ir/tensor/shape.ts';
import { constantTensor } from '../../../ops/layout/constant.ts';
import { transposeOrder } from '../../../ops/layout/layout.ts';
import { same, type Translations } from './translation.ts';
import type { OnnxWriter } from './writer.ts';

/** Operations on layouts, constants, indices and casts. */
export const layout: Translations = {
  TypeCast: ({ inputs: [src], outputs: [dst] }, write) => {
    write.cast(write.name(src), src.dtype, dst.dtype, write.name(dst));
  },
  // ONNX has no strides.
  Reorder: same('Identity', {}),
  StaticTranspose: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const order = numbersOf(attributes, 'order');
    const perm = transposeOrder(order, order.length || write.rankOf(src));
    write.node('Transpose', [write.name(src)], { perm: { ints: perm } }, write.name(dst));
  },
  StaticReshape: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const shape = numbersOf(attributes, 'shape');
    const allowzero = { int: !flagOf(attributes, 'special_zero') && shape.includes(0) ? 1 : 0 };
    write.node('Reshape', [write.name(src), write.integers(shape)], { allowzero }, write.name(dst));
  },
  BroadcastLike: ({ inputs: [src, like], outputs: [dst], attributes }, write) => {
    const divisor = numberOf(attributes, 'divisor');
    const x = write.name(src);
    const part = divisor === 1 ? x : write.node('Div', [x, write.numbers([divisor], src.dtype)]);
    write.node('Expand', [part, write.node('Shape', [write.name(like)])], {}, write.name(dst));
  },
  Constant: ({ outputs: [dst], attributes }, write) => {
    const tensor = constantTensor(attributes, storageDType(dst.dtype));
    const numbers = write.numbers([...tensor.toFloat64()], dst.dtype, tensor.shape);
    write.node('Identity', [numbers], {}, write.name(dst));
  },
  GenIndex: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const rank = write.rankOf(src);
    const axis = axisOf(numberOf(attributes, 'axis'), rank) ?? 0;
    const shape = write.node('Shape', [write.name(src)]);
    const range = write.node('Range', [write.integers(0), extent(shape, axis, write), write.integers(1)]);
    const others = Array.from({ length: rank }, (_, d) => d).filter(d => d !== axis);
    const line = others.length === 0 ? range : write.node('Unsqueeze', [range, write.integers(others)]);
    write.give(dst, 'i64', 'Expand', [line, shape]);
  },
  // ONNX refuses indices out of range, for which the result must be NaN.
  Gather: ({ inputs: [src, indices], outputs: [dst] }, write) => {
    const rows = extent(write.node('Shape', [write.name(src)]), 0, write);
    const { index, isInside } = write.within(write.as(indices, 'i64'), rows);
    const gathered = write.node('Gather', [write.name(src), index]);
    const axes = Array.from({ length: write.rankOf(src) - 1 }, (_, d) => -1 - d);
    const holds = axes.length === 0 ? isInside : write.node('Unsqueeze', [isInside, write.integers(axes)]);
    write.node('Where', [holds, gathered, write.numbers([NaN], src.dtype)], {}, write.name(dst));
  },
  BiasAdd: ({ inputs: [src, bias], outputs: [dst], attributes }, write) => {
    const after = attributes.data_format === 'NCX' ? write.rankOf(src) - 2 : 0;
    const axes = Array.from({ length: after }, (_, d) => d + 1);
    const own = write.name(bias);
    const column = after === 0 ? own : write.node('Unsqueeze', [own, write.integers(axes)]);
    write.node('Add', [write.name(src), column], {}, write.name(dst));
  },
};

/** An extent of a shape, as a scalar. */
function extent(shape: string, axis: number, write: OnnxWriter): string {
  return write.node('Gather', [shape, write.integers(axis)]);
}
