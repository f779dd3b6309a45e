import { elementCount, Tensor } from '@tilewise/core';
import { add, div, floorDiv, mul, type NumericExpr, sub, toF32 } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../ir/program/expr.ts';
import type { Lowering, Value } from '../ir/program/lowering.ts';
import { defineOperations } from '../ir/schema/define.ts';
import type { Operation, OperationCall } from '../ir/schema/operation.ts';
import type { ResolvedAttributes } from '../ir/schema/schema.ts';
import { isKnown } from '../ir/tensor/logical-tensor.ts';
import { axisOf, checkedAxis, checkShape, refuse } from '../ir/tensor/shape.ts';

const staticAttributes = {
  qtype: { type: 'string', default: 'per_tensor', among: ['per_tensor', 'per_channel'] },
  axis: { type: 's64', default: 1 },
  scales: { type: 'f32[]', required: true },
  zps: { type: 's64[]' },
} as const;

const dynamicAttributes = {
  qtype: { type: 'string', default: 'per_tensor', among: ['per_tensor', 'per_channel', 'per_group'] },
  axis: { type: 's64', default: 1 },
  group_shape: { type: 's64[]' },
} as const;

export const quantizeSchemas = {
  Quantize: {
    inputs: 'src:T1=f32',
    outputs: 'dst:T2=u8|i8|f8e5m2|f8e4m3',
    attributes: staticAttributes as typeof staticAttributes,
  },
  Dequantize: {
    inputs: 'src:T1=u8|i8|f8e5m2|f8e4m3',
    outputs: 'dst:T2=f32',
    attributes: staticAttributes as typeof staticAttributes,
  },
  DynamicQuantize: {
    inputs: 'src:T1=f32 scales:T2=f32 zps?:T3=u8|i8|i32',
    outputs: 'dst:T4=u8|i8',
    attributes: dynamicAttributes as typeof dynamicAttributes,
  },
  DynamicDequantize: {
    inputs: 'src:T1=u8|i8|i4|u4 scales:T2 zps?:T3=u8|i8|i4|u4|i32',
    outputs: 'dst:T2',
    attributes: dynamicAttributes as typeof dynamicAttributes,
  },
} as const;

type StaticAttributes = ResolvedAttributes<typeof staticAttributes>;
type DynamicAttributes = ResolvedAttributes<typeof dynamicAttributes>;

const quantized = (x: NumericExpr, s: NumericExpr, zp: NumericExpr | number): NumericExpr =>
  add(div(x, s), zp);
const dequantized = (q: NumericExpr, s: NumericExpr, zp: NumericExpr | number): NumericExpr =>
  mul(sub(q, zp), s);

type Formula = typeof quantized;

function staticConstraint({
  attributes,
  inputs: [src],
  outputs: [dst],
}: OperationCall<StaticAttributes>): string | null {
  const { scales, zps = [] } = attributes;
  if (zps.length > 0 && zps.length !== scales.length) {
    return `attribute 'zps' must have as many numbers as 'scales' (${scales.length}), got ${zps.length}`;
  }
  const isF8 = [src, dst].some(t => t.dtype === 'f8e4m3' || t.dtype === 'f8e5m2');
  return isF8 && zps.length > 0 ? "attribute 'zps' is not for f8" : null;
}

/**
 * The shape in which `count` numbers broadcast to a value: one number for all elements, or one per channel of
 * an axis.
 */
function perChannel(count: number, axis: number, { desc: { shape } }: Value): number[] {
  const own = axisOf(axis, shape.length);
  return shape.map((_, d) => (count > 1 && d === own ? count : 1));
}

function lowerStatic(
  { map, constant, inputs: [src], outputs: [dst] }: Lowering,
  { scales, zps = [], axis }: StaticAttributes,
  formula: Formula,
): void {
  const parameters = [scales, ...(zps.length > 0 ? [zps] : [])].map(numbers =>
    constant(Tensor.from(numbers, perChannel(numbers.length, axis, src))),
  );
  const x = toF32(input(0, exprType(src.desc.dtype)));
  map(formula(x, input(1), zps.length > 0 ? input(2) : 0), [src, ...parameters], dst);
}

/** Checks numbers of scales or zero points: one, or one per channel of the axis. */
function checkCounts(
  { qtype, axis }: Pick<DynamicAttributes, 'qtype' | 'axis'>,
  shape: readonly number[],
  counts: readonly number[],
): void {
  const wanted = qtype === 'per_tensor' ? 1 : shape[checkedAxis(axis, shape)];
  const wrong = counts.find(count => wanted >= 0 && count !== wanted);
  if (wrong === undefined) return;
  refuse(`needs ${wanted} scales and zero points ${qtype} of [${shape}], got ${wrong}`);
}

function inferStatic({
  attributes,
  inputs: [{ shape }],
}: OperationCall<StaticAttributes>): ReturnType<Operation['infer']> {
  if (shape) checkCounts(attributes, shape, [attributes.scales.length]);
  return [shape];
}

function dynamicConstraint({
  attributes: { qtype, group_shape: group },
}: OperationCall<DynamicAttributes>): string | null {
  return qtype === 'per_group' && !group ? "needs the attribute 'group_shape' per_group" : null;
}

function inferDynamic({
  attributes,
  inputs: [{ shape }, ...parameters],
}: OperationCall<DynamicAttributes>): ReturnType<Operation['infer']> {
  const [scales, zps] = parameters;
  const group = attributes.group_shape ?? [];
  if (attributes.qtype !== 'per_group') {
    const known = parameters.flatMap(t => (isKnown(t.shape) ? [elementCount(t.shape)] : []));
    // One number is used for all channels.
    const several = known.filter(count => count !== 1);
    if (shape) checkCounts(attributes, shape, several);
  } else if (shape && scales.shape) {
    const counts = scales.shape;
    const fits =
      [counts, group].every(list => list.length === shape.length) &&
      shape.every((n, d) => n < 0 || counts[d] < 0 || counts[d] * group[d] === n);
    if (zps) checkShape('zero points of', zps.shape, counts);
    if (!fits) refuse(`scales [${scales.shape}] in groups of [${group}] do not cover [${shape}]`);
  }
  return [shape];
}

function lowerDynamic(
  { map, view, inputs, outputs }: Lowering,
  { qtype, axis, group_shape: group = [] }: DynamicAttributes,
  formula: Formula,
): void {
  const [src, ...parameters] = inputs;
  const [, zps] = parameters;
  const x = toF32(input(0, exprType(src.desc.dtype)));
  if (qtype === 'per_group') {
    const place = group.map((size, d) => (size === 1 ? coordinate(d) : floorDiv(coordinate(d), size)));
    const zp = zps ? toF32(inputAt(2, place, 'i32')) : 0;
    map(formula(x, inputAt(1, place), zp), inputs, outputs[0]);
    return;
  }
  const along = (value: Value): Value => {
    const shape = perChannel(elementCount(value.desc.shape), axis, src);
    const strides = shape.map(n => (n > 1 ? (value.desc.strides.at(-1) ?? 1) : 0));
    return view(value, shape, strides);
  };
  const zp = zps ? toF32(input(2, 'i32')) : 0;
  map(formula(x, input(1), zp), [src, ...parameters.map(along)], outputs[0]);
}

// No gradient, as in oneDNN and PyTorch; in PyTorch only `fake_quantize` has one, a straight-through
// estimator.
const rounds = 'the result is piecewise constant';
const integers = 'the input is an integer or 8-bit code';

/**
 * Conversions to integers or f8 and back, with scales and zero points from attributes (static) or tensors
 * (dynamic).
 */
export const quantizeOperations: readonly Operation[] = defineOperations(quantizeSchemas, {
  /** x / scale + zero point, rounded to nearest even and saturated. */
  Quantize: {
    constraint: staticConstraint,
    noGradient: rounds,
    infer: inferStatic,
    lower: (lowering, { attributes }) => lowerStatic(lowering, attributes, quantized),
  },
  /** (x − zero point)·scale. */
  Dequantize: {
    constraint: staticConstraint,
    noGradient: integers,
    infer: inferStatic,
    lower: (lowering, { attributes }) => lowerStatic(lowering, attributes, dequantized),
  },
  /** x / scale + zero point with scales and zero points from tensors. */
  DynamicQuantize: {
    constraint: dynamicConstraint,
    noGradient: rounds,
    infer: inferDynamic,
    lower: (lowering, { attributes }) => lowerDynamic(lowering, attributes, quantized),
  },
  /**
   * (x − zero point)·scale with scales and zero points from tensors: one, one per channel, or one per group.
   */
  DynamicDequantize: {
    constraint: dynamicConstraint,
    noGradient: integers,
    infer: inferDynamic,
    lower: (lowering, { attributes }) => lowerDynamic(lowering, attributes, dequantized),
  },
});
