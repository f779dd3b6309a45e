import { InvalidShapeError, Tensor } from '@tilewise/core';
import { add, div, floorDiv, mul, type NumericExpr, sub, toF32 } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../ir/program/expr-type.ts';
import type { Lowering, Value } from '../ir/program/lowering.ts';
import type { Attributes, OperationCall } from '../ir/schema/attribute.ts';
import { numberOf, numbersOf } from '../ir/schema/attribute.ts';
import type { Operation } from '../ir/schema/operation.ts';
import type { GraphDType } from '../ir/tensor/dtype.ts';
import { axisOf } from '../ir/tensor/shape.ts';
import { floats, optionalPort, port } from './ports.ts';

const static8: readonly GraphDType[] = ['u8', 'i8', 'f8e5m2', 'f8e4m3'];
const dynamicStorage: readonly GraphDType[] = ['u8', 'i8', 'i4', 'u4'];
const zeroPoints: readonly GraphDType[] = ['u8', 'i8', 'i4', 'u4', 'i32'];

const quantized = (x: NumericExpr, s: NumericExpr, zp: NumericExpr | number): NumericExpr =>
  add(div(x, s), zp);
const dequantized = (q: NumericExpr, s: NumericExpr, zp: NumericExpr | number): NumericExpr =>
  mul(sub(q, zp), s);

type Formula = typeof quantized;

const staticAttributes: Operation['attributes'] = {
  qtype: { type: 'string', default: 'per_tensor', among: ['per_tensor', 'per_channel'] },
  axis: { type: 's64', default: 1 },
  scales: { type: 'f32[]', required: true },
  zps: { type: 's64[]' },
};

function staticConstraint({ attributes, inputs: [src], outputs: [dst] }: OperationCall): string | null {
  const scales = numbersOf(attributes, 'scales');
  const zps = numbersOf(attributes, 'zps');
  if (attributes.qtype === 'per_tensor' && scales.length !== 1) {
    return `attribute 'scales' must have one number per_tensor, got ${scales.length}`;
  }
  if (zps.length > 0 && zps.length !== scales.length) {
    return `attribute 'zps' must have as many numbers as 'scales' (${scales.length}), got ${zps.length}`;
  }
  const isF8 = [src, dst].some(t => t.dtype === 'f8e4m3' || t.dtype === 'f8e5m2');
  return isF8 && zps.length > 0 ? "attribute 'zps' is not for f8" : null;
}

/** A list of numbers, one for all or one per channel of `axis`, as a constant that broadcasts. */
function perChannel(
  lowering: Lowering,
  values: readonly number[],
  attributes: Attributes,
  rank: number,
): Value {
  const axis = axisOf(numberOf(attributes, 'axis'), rank);
  const shape = Array.from({ length: rank }, (_, d) => (values.length > 1 && d === axis ? values.length : 1));
  return lowering.constant(Tensor.from(values, shape));
}

function lowerStatic(lowering: Lowering, formula: Formula): void {
  const { call, inputs, outputs } = lowering;
  const rank = inputs[0].desc.shape.length;
  const zps = numbersOf(call.attributes, 'zps');
  const scales = perChannel(lowering, numbersOf(call.attributes, 'scales'), call.attributes, rank);
  const x = toF32(input(0, exprType(inputs[0].desc.dtype)));
  if (zps.length === 0) lowering.map(formula(x, input(1), 0), [inputs[0], scales], outputs[0]);
  else {
    const zp = perChannel(lowering, zps, call.attributes, rank);
    lowering.map(formula(x, input(1), input(2)), [inputs[0], scales, zp], outputs[0]);
  }
}

function inferStatic(
  kind: string,
  { attributes, inputs: [{ shape }] }: OperationCall,
): ReturnType<Operation['infer']> {
  const scales = numbersOf(attributes, 'scales');
  if (shape && attributes.qtype === 'per_channel') {
    const axis = axisOf(numberOf(attributes, 'axis'), shape.length);
    if (axis === undefined || (shape[axis] >= 0 && shape[axis] !== scales.length)) {
      throw new InvalidShapeError(
        kind,
        `needs a scale per channel of axis ${attributes.axis} of [${shape}], got ${scales.length}`,
      );
    }
  }
  return [shape];
}

const dynamicAttributes: Operation['attributes'] = {
  qtype: { type: 'string', default: 'per_tensor', among: ['per_tensor', 'per_channel', 'per_group'] },
  axis: { type: 's64', default: 1 },
  group_shape: { type: 's64[]' },
};

function dynamicConstraint({ attributes, inputs: [src, scales, zps] }: OperationCall): string | null {
  const group = numbersOf(attributes, 'group_shape');
  if (attributes.qtype === 'per_group' && group.length === 0)
    return "needs the attribute 'group_shape' per_group";
  if (!scales.shape) return null;
  if (attributes.qtype === 'per_group') {
    if (src.shape && (src.shape.length < 2 || scales.shape.length !== src.shape.length)) {
      return `input 'scales' must have the rank of 'src' per_group, got [${scales.shape}]`;
    }
    return zps?.shape && `${zps.shape}` !== `${scales.shape}`
      ? `input 'zps' must have the shape of 'scales' ([${scales.shape}]), got [${zps.shape}]`
      : null;
  }
  const count = scales.shape.reduce((n, extent) => n * extent, 1);
  return attributes.qtype === 'per_tensor' && count > 1
    ? `input 'scales' must hold one number per_tensor, got [${scales.shape}]`
    : null;
}

function inferDynamic(
  kind: string,
  { attributes, inputs: [{ shape }, scales] }: OperationCall,
): ReturnType<Operation['infer']> {
  const group = numbersOf(attributes, 'group_shape');
  if (attributes.qtype === 'per_group' && shape && scales.shape) {
    const fits = shape.every((n, d) => n < 0 || (scales.shape?.[d] ?? 0) * group[d] === n);
    if (!fits) {
      throw new InvalidShapeError(
        kind,
        `scales [${scales.shape}] in groups of [${group}] do not cover [${shape}]`,
      );
    }
  }
  return [shape];
}

function lowerDynamic(lowering: Lowering, formula: Formula): void {
  const { call, inputs, outputs } = lowering;
  const [src, scales, zps] = inputs;
  const rank = src.desc.shape.length;
  const group = numbersOf(call.attributes, 'group_shape');
  const x = toF32(input(0, exprType(src.desc.dtype)));
  if (call.attributes.qtype === 'per_group') {
    const place = group.map((size, d) => (size === 1 ? coordinate(d) : floorDiv(coordinate(d), size)));
    const zp = zps ? toF32(inputAt(2, place, 'i32')) : 0;
    lowering.map(formula(x, inputAt(1, place), zp), inputs, outputs[0]);
    return;
  }
  const axis = axisOf(numberOf(call.attributes, 'axis'), rank);
  const along = (value: Value): Value => {
    const count = value.desc.shape.reduce((n, extent) => n * extent, 1);
    const shape = Array.from({ length: rank }, (_, d) => (count > 1 && d === axis ? count : 1));
    return lowering.view(
      value,
      shape,
      shape.map(n => (n > 1 ? (value.desc.strides.at(-1) ?? 1) : 0)),
    );
  };
  const parameters = [scales, ...(zps ? [zps] : [])].map(along);
  const zp = zps ? toF32(input(2, 'i32')) : 0;
  lowering.map(formula(x, input(1), zp), [src, ...parameters], outputs[0]);
}

// As in PyTorch, where only `fake_quantize` has a gradient, and that by choice: straight through. oneDNN has none either.
const rounds = 'what it gives is constant but where it jumps';
const integers = 'what it reads are not numbers that a gradient could change';

/** To integers or f8 and back, by scales and zero points that are attributes (static) or tensors (dynamic). */
export const quantizeOperations: readonly Operation[] = [
  {
    kind: 'Quantize',
    summary: 'x / scale + zero point, rounded to nearest even and saturated.',
    inputs: [port('src', 'T1', ['f32'])],
    outputs: [port('dst', 'T2', static8)],
    attributes: staticAttributes,
    constraint: staticConstraint,
    noGradient: rounds,
    infer: call => inferStatic('Quantize', call),
    lower: lowering => lowerStatic(lowering, quantized),
  },
  {
    kind: 'Dequantize',
    summary: '(x − zero point)·scale.',
    inputs: [port('src', 'T1', static8)],
    outputs: [port('dst', 'T2', ['f32'])],
    attributes: staticAttributes,
    constraint: staticConstraint,
    noGradient: integers,
    infer: call => inferStatic('Dequantize', call),
    lower: lowering => lowerStatic(lowering, dequantized),
  },
  {
    kind: 'DynamicQuantize',
    summary: 'x / scale + zero point with scales and zero points from tensors.',
    inputs: [
      port('src', 'T1', ['f32']),
      port('scales', 'T2', ['f32']),
      optionalPort('zps', 'T3', ['u8', 'i8', 'i32']),
    ],
    outputs: [port('dst', 'T4', ['u8', 'i8'])],
    attributes: dynamicAttributes,
    constraint: dynamicConstraint,
    noGradient: rounds,
    infer: call => inferDynamic('DynamicQuantize', call),
    lower: lowering => lowerDynamic(lowering, quantized),
  },
  {
    kind: 'DynamicDequantize',
    summary:
      '(x − zero point)·scale with scales and zero points from tensors: one, one per channel, or one per group.',
    inputs: [
      port('src', 'T1', dynamicStorage),
      port('scales', 'T2', floats),
      optionalPort('zps', 'T3', zeroPoints),
    ],
    outputs: [port('dst', 'T2', floats)],
    attributes: dynamicAttributes,
    constraint: dynamicConstraint,
    noGradient: integers,
    infer: call => inferDynamic('DynamicDequantize', call),
    lower: lowering => lowerDynamic(lowering, dequantized),
  },
];
