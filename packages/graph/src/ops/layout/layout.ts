import { dtypeInfo, elementCount } from '@tilewise/core';
import { add, gt, lt, type NumericExpr, round, select, sub } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { floats } from '../../ir/schema/ports.ts';
import { type GraphDType, storageDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalShape, UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { axisOf, broadcastShapes, refuse } from '../../ir/tensor/shape.ts';
import { numeric } from '../elementwise/numeric.ts';

export const layoutSchemas = {
  TypeCast: {
    inputs: 'src:T1=numbers|u32|i8|u8|bool|f8e4m3|f8e5m2',
    outputs: 'dst:T2=numbers|u32|i8|u8|bool|f8e4m3|f8e5m2',
    attributes: {},
  },
  Reorder: { inputs: 'src:T', outputs: 'dst:T', attributes: {} },
  StaticTranspose: {
    inputs: 'src:T=numbers|u32|i8|u8|bool',
    outputs: 'dst:T=numbers|u32|i8|u8|bool',
    attributes: { order: { type: 's64[]', required: true } },
  },
  // Masks and lengths are reshaped too, to give them the dimensions of grouped heads.
  StaticReshape: {
    inputs: 'src:T=numbers|u32|i8|u8|bool',
    outputs: 'dst:T=numbers|u32|i8|u8|bool',
    attributes: { shape: { type: 's64[]', required: true }, special_zero: { type: 'bool', required: true } },
  },
  Expand: {
    inputs: 'src:T=floats|i32|u32|bool',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: { shape: { type: 's64[]', required: true } },
  },
} as const;

const isFloat = (dtype: GraphDType): boolean => dtypeInfo[storageDType(dtype)].kind === 'float';

/** x rounded towards 0. The nearest integer is off by one if it is further from 0 than x. */
function truncated(x: NumericExpr): NumericExpr {
  const near = round(x);
  return select(lt(x, 0), select(lt(near, x), add(near, 1), near), select(gt(near, x), sub(near, 1), near));
}

/** Operations that keep the elements but change their dtype, memory layout, dimension order or shape. */
export const layoutOperations: readonly Operation[] = /* @__PURE__ */ defineOperations(layoutSchemas, {
  /**
   * The values in another dtype: floats are rounded to nearest even; integers are rounded towards 0 and
   * saturated; as a bool, everything but 0 is 1.
   */
  TypeCast: {
    constraint: ({ inputs: [src], outputs: [dst] }) => {
      if (src.dtype === dst.dtype)
        return `output 'dst' must have a different dtype from 'src', but both are ${src.dtype}`;
      const isRoundedTwice = [src, dst].every(({ dtype }) => dtype !== 'f32' && isFloat(dtype));
      return isRoundedTwice ? `cannot cast ${src.dtype} to ${dst.dtype}; cast to f32 first` : null;
    },
    gradient: ({ inputs: [src], dy }) => [floats.includes(src.dtype) ? () => dy : null],
    infer: ({ inputs: [src] }) => [src.shape],
    lower: ({ map, inputs: [src], outputs: [dst] }) => {
      const value = input(0, exprType(src.desc.dtype));
      const isTruncated = isFloat(src.desc.dtype) && dtypeInfo[dst.desc.dtype].kind === 'integer';
      map(isTruncated ? truncated(numeric(value)) : value, [src], dst);
    },
  },
  /** The tensor in the memory layout of the output. */
  Reorder: {
    gradient: ({ dy }) => [() => dy],
    infer: ({ inputs: [src] }) => [src.shape],
    lower: ({ copy, inputs: [src], outputs: [dst] }) => copy(src, dst),
  },
  /**
   * src with its dimensions in another order: dimension d of dst is dimension order[d] of src. An empty order
   * reverses all dimensions.
   */
  StaticTranspose: {
    gradient: ({ builder, attributes, inputs: [src], dy }) => {
      const order = inverseOrder(attributes.order, builder.shapeOf(src).length);
      return [() => builder.op('StaticTranspose', [dy], { order })];
    },
    infer: ({ attributes, inputs: [{ shape }] }) => [
      shape && transposeOrder(attributes.order, shape.length).map(d => shape[d]),
    ],
    lower: ({ copy, permuted, inputs: [src], outputs: [dst] }, { attributes: { order } }) =>
      copy(permuted(src, transposeOrder(order, src.desc.shape.length)), dst),
  },
  /**
   * The elements of src in row-major order with another shape. One extent may be −1 and is inferred; with
   * special_zero, an extent of 0 keeps the extent of src.
   */
  StaticReshape: {
    gradient: ({ builder, inputs: [src], dy }) => [() => builder.reshape(dy, builder.shapeOf(src))],
    infer: ({ attributes: { shape, special_zero }, inputs: [src] }) => [
      reshapeTarget(shape, special_zero, src.shape),
    ],
    lower: ({ copy, reshaped, inputs: [src], outputs: [dst] }) => copy(reshaped(src, dst.desc.shape), dst),
  },
  /** src, broadcast to the common shape of src and `shape`. Not an operation of oneDNN. */
  Expand: {
    infer: ({ attributes: { shape }, inputs: [src] }) => {
      if (shape.some(n => n < 0)) refuse(`needs extents ≥ 0, got [${shape}]`);
      return [broadcastShapes(src.shape, shape)];
    },
    gradient: ({ builder, inputs: [src], outputs: [dst], dy }) => [
      () => builder.reduceTo(dy, builder.shapeOf(dst), builder.shapeOf(src)),
    ],
    lower: ({ copy, inputs: [src], outputs: [dst] }) => copy(src, dst),
  },
});

/** The order of a transpose with axes counted from the start. Refuses an order that is not a permutation. */
export function transposeOrder(order: readonly number[], rank: number): number[] {
  if (order.length === 0) return Array.from({ length: rank }, (_, d) => rank - 1 - d);
  const axes = order.map(axis => axisOf(axis, rank) ?? -1);
  if (axes.length !== rank || axes.includes(-1) || new Set(axes).size !== rank)
    refuse(`order [${order}] is not a permutation of ${rank} dimensions`);
  return axes;
}

/** The order of the transpose that undoes another. */
export function inverseOrder(order: readonly number[], rank: number): number[] {
  const axes = transposeOrder(order, rank);
  return axes.map((_, d) => axes.indexOf(d));
}

function reshapeTarget(target: readonly number[], specialZero: boolean, source: LogicalShape): LogicalShape {
  const fail = (rule: string): never => refuse(`shape [${target}] ${rule}`);
  if (target.some(n => n < -1) || target.filter(n => n === -1).length > 1) {
    fail('must hold extents of at least −1, and −1 at most once');
  }
  const shape = target.map((n, d) => {
    if (n !== 0 || !specialZero) return n;
    if (source === null) return UNKNOWN;
    return source[d] ?? fail(`keeps dimension ${d}, which [${source}] does not have`);
  });
  if (!isKnown(source)) return shape.map(n => (n === -1 ? UNKNOWN : n));
  const count = elementCount(source);
  const free = shape.indexOf(-1);
  const others = elementCount(shape.filter((_, d) => d !== free));
  if (free >= 0) {
    if (others === 0 || count % others !== 0) fail(`does not divide the ${count} elements of [${source}]`);
    shape[free] = count / others;
  } else if (others !== count) fail(`has ${others} elements, but [${source}] has ${count}`);
  return shape;
}
