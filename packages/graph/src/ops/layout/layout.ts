import { InvalidShapeError } from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr-type.ts';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { permuted, reshaped } from '../../ir/program/views.ts';
import { flagOf, numbersOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { isKnown, type LogicalShape, UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import { floats, port } from '../ports.ts';

/** Writes a value as it is to the output, in its dtype. */
export function copyTo(lowering: Lowering, from: Value, to: Value): void {
  lowering.map(input(0, exprType(from.desc.dtype)), [from], to);
}

export const typeCast: Operation = {
  kind: 'TypeCast',
  summary: 'The same values in another float dtype, rounded to nearest even.',
  inputs: [port('src', 'T1')],
  outputs: [port('dst', 'T2')],
  attributes: {},
  constraint: ({ inputs: [src], outputs: [dst] }) => {
    if (src.dtype === dst.dtype)
      return `output 'dst' must have another dtype than 'src', both are ${src.dtype}`;
    return src.dtype === 'f32' || dst.dtype === 'f32'
      ? null
      : `cannot cast ${src.dtype} to ${dst.dtype}; go by f32`;
  },
  gradient: ({ outputGradients: [dy] }) => (dy ? [() => dy] : []),
  infer: ({ inputs: [src] }) => [src.shape],
  lower: lowering => copyTo(lowering, lowering.inputs[0], lowering.outputs[0]),
};

export const reorder: Operation = {
  kind: 'Reorder',
  summary: 'The same tensor with the memory layout of its output.',
  inputs: [port('src', 'T')],
  outputs: [port('dst', 'T')],
  attributes: {},
  gradient: ({ outputGradients: [dy] }) => (dy ? [() => dy] : []),
  infer: ({ inputs: [src] }) => [src.shape],
  lower: lowering => copyTo(lowering, lowering.inputs[0], lowering.outputs[0]),
};

export const staticTranspose: Operation = {
  kind: 'StaticTranspose',
  summary:
    'The dimensions in another order: dimension d of the output is dimension order[d] of src; all reversed when order is empty.',
  inputs: [port('src', 'T')],
  outputs: [port('dst', 'T')],
  attributes: { order: { type: 's64[]', required: true } },
  gradient: ({ builder, attributes, inputs: [src], outputGradients: [dy] }) => {
    const order = transposeOrder(numbersOf(attributes, 'order'), builder.shapeOf(src).length);
    return dy
      ? [() => builder.op('StaticTranspose', [dy], { order: order.map((_, d) => order.indexOf(d)) })]
      : [];
  },
  infer: ({ attributes, inputs: [{ shape }] }) => {
    if (shape === null) return [null];
    return [transposeOrder(numbersOf(attributes, 'order'), shape.length).map(d => shape[d])];
  },
  lower: lowering => {
    const [src] = lowering.inputs;
    const order = transposeOrder(numbersOf(lowering.call.attributes, 'order'), src.desc.shape.length);
    copyTo(lowering, permuted(lowering, src, order), lowering.outputs[0]);
  },
};

/**
 * The order of a transpose with axes counted from the start.
 * @throws InvalidShapeError when it is no permutation of the dimensions.
 */
export function transposeOrder(order: readonly number[], rank: number): number[] {
  if (order.length === 0) return Array.from({ length: rank }, (_, d) => rank - 1 - d);
  const axes = order.map(axis => axisOf(axis, rank) ?? -1);
  if (axes.length !== rank || axes.includes(-1) || new Set(axes).size !== rank) {
    throw new InvalidShapeError(
      'StaticTranspose',
      `order [${order}] is no permutation of ${rank} dimensions`,
    );
  }
  return axes;
}

/** Masks and lengths too, so that they can be given the dimensions of grouped heads. */
const reshapeable = [...floats, 'i32', 'bool'] as const;

export const staticReshape: Operation = {
  kind: 'StaticReshape',
  summary:
    'The same elements in row-major order under another shape; one extent may be −1, and with special_zero 0 keeps an extent of src.',
  inputs: [port('src', 'T', reshapeable)],
  outputs: [port('dst', 'T', reshapeable)],
  attributes: { shape: { type: 's64[]', required: true }, special_zero: { type: 'bool', required: true } },
  gradient: ({ builder, inputs: [src], outputGradients: [dy] }) =>
    dy ? [() => builder.op('StaticReshape', [dy], { shape: builder.shapeOf(src), special_zero: false })] : [],
  infer: ({ attributes, inputs: [src] }) => [
    reshapeTarget(numbersOf(attributes, 'shape'), flagOf(attributes, 'special_zero'), src.shape),
  ],
  lower: lowering => {
    const [dst] = lowering.outputs;
    copyTo(lowering, reshaped(lowering, lowering.inputs[0], dst.desc.shape), dst);
  },
};

function reshapeTarget(target: readonly number[], specialZero: boolean, source: LogicalShape): LogicalShape {
  const fail = (rule: string): never => {
    throw new InvalidShapeError('StaticReshape', `shape [${target}] ${rule}`);
  };
  if (target.some(n => n < -1) || target.filter(n => n === -1).length > 1) {
    fail('must hold extents of at least −1, and −1 at most once');
  }
  const shape = target.map((n, d) => {
    if (n !== 0 || !specialZero) return n;
    if (source === null) return UNKNOWN;
    return source[d] ?? fail(`keeps dimension ${d}, which [${source}] does not have`);
  });
  if (!isKnown(source)) return shape.map(n => (n === -1 ? UNKNOWN : n));
  const count = source.reduce((a, n) => a * n, 1);
  const others = shape.reduce((a, n) => (n === -1 ? a : a * n), 1);
  const free = shape.indexOf(-1);
  if (free >= 0) {
    if (others === 0 || count % others !== 0) fail(`does not divide the ${count} elements of [${source}]`);
    shape[free] = count / others;
  } else if (others !== count) fail(`has ${others} elements, but [${source}] has ${count}`);
  return shape;
}
