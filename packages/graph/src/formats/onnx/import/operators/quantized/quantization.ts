import { elementCount } from '@tilewise/core';
import type { Attributes } from '../../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { type ElementType, elementTypeOf, int64Type, integerRange } from '../../file/element-type.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { staticNumbers, type Value } from '../../value.ts';
import { refuseOverflow } from '../elementwise/casts.ts';

/**
 * The scale or zero point of each element: one for all, one per index of an axis, or one per block along it.
 */
function spread(call: NodeCall, { shape: own, tensor }: Value): LogicalTensor {
  const { draft } = call;
  const { shape } = call.input(0);
  const list = draft.cast(tensor(), 'f32');
  if (elementCount(own) === 1) return draft.reshape(list, []);
  const axis = call.axis(call.int('axis', 1), shape.length);
  const block = call.int('block_size', 0);
  if (block === 0)
    return draft.reshape(
      list,
      shape.map((_, d) => (d === axis ? elementCount(own) : 1)),
    );
  const extent = shape[axis];
  const values = Array.from({ length: extent }, (_, i) => Math.floor(i / block));
  return draft.op('Take', [list, call.constant({ shape: [extent], values }, int64Type)], { axis });
}

/** Checks the shape of the scales or of the zero points. One number may have any shape. */
function checkScaleShape(call: NodeCall, { name, shape: own }: Value): void {
  const { shape } = call.input(0);
  if (elementCount(own) === 1) return;
  const axis = call.axis(call.int('axis', 1), shape.length);
  const block = call.int('block_size', 0);
  const wanted = block
    ? shape.map((extent, d) => (d === axis ? Math.ceil(extent / block) : extent))
    : [shape[axis]];
  if (`${own}` !== `${wanted}`)
    call.fail(`has '${name}' of shape [${own}]; along axis ${axis} of [${shape}] it must be [${wanted}]`);
}

/** Quantizes floats with a scale and a zero point, or dequantizes them. */
function conversion(
  call: NodeCall,
  kind: 'Quantize' | 'Dequantize',
  quantized: ElementType,
  { dtype }: ElementType,
): LogicalTensor {
  const { draft } = call;
  const { shape, tensor } = call.input(0);
  const [scales, zeros] = [call.input(1), call.optional(2)];
  for (const own of zeros ? [scales, zeros] : [scales]) checkScaleShape(call, own);
  if (zeros && elementCount(zeros.shape) !== elementCount(scales.shape))
    call.fail(`has scales of shape [${scales.shape}] and zero points of shape [${zeros.shape}]`);
  const [known, zps] = [staticNumbers(scales), zeros ? staticNumbers(zeros) : new Float64Array()];
  const isF8 = quantized.kind === 'float';
  const division = namedType(call, 'precision') ?? scales.type;
  // The graph's operations support only 8 bits and f32. Its Quantize rounds x / scale + zero point, which
  // differs at ties if the zero point is odd.
  const isSame =
    quantized.bits === 8 &&
    scales.shape.length < 2 &&
    call.int('block_size', 0) === 0 &&
    (kind === 'Dequantize' || division.dtype === 'f32') &&
    zps?.every(point => kind === 'Dequantize' || point % 2 === 0);
  if (known && zps && isSame) {
    const isChannel = known.length > 1;
    const axis = isChannel ? call.axis(call.int('axis', 1), shape.length) : 0;
    const attributes: Attributes = {
      ...{ qtype: isChannel ? 'per_channel' : 'per_tensor', axis, scales: [...known] },
      // 8-bit floats have no zero points.
      ...(!isF8 && zps.length > 0 && { zps: [...zps] }),
    };
    if (kind === 'Quantize') return draft.op(kind, [draft.cast(tensor(), 'f32')], attributes, dtype);
    return draft.cast(draft.op(kind, [tensor()], attributes, 'f32'), dtype);
  }
  const x = draft.cast(tensor(), 'f32');
  const [scale, zero] = [spread(call, scales), zeros && !isF8 ? spread(call, zeros) : null];
  if (kind === 'Dequantize')
    return draft.cast(draft.op('Multiply', [zero ? draft.op('Subtract', [x, zero]) : x, scale]), dtype);
  const steps = draft.cast(draft.cast(draft.op('Divide', [x, scale]), division.dtype), 'f32');
  if (isF8) return draft.cast(steps, dtype);
  const whole = draft.op('Round', [steps]);
  return draft.cast(
    draft.op('Clamp', [zero ? draft.op('Add', [whole, zero]) : whole], { ...integerRange(quantized) }),
    dtype,
  );
}

/** The type that an attribute names. */
function namedType(call: NodeCall, name: 'output_dtype' | 'precision'): ElementType | null {
  const number = call.int(name, 0);
  if (number === 0) return null;
  return (
    elementTypeOf(number) ?? call.refuse(`has the ${name} ${number}, a type that engines do not support`)
  );
}

const quantizeLinear: OnnxOperator = call => {
  const { shape } = call.input(0);
  const type = call.optional(2)?.type ?? namedType(call, 'output_dtype') ?? (elementTypeOf(2) as ElementType);
  refuseOverflow(call, type);
  return { type, shape, emit: () => conversion(call, 'Quantize', type, type) };
};

const dequantizeLinear: OnnxOperator = call => {
  const { shape, type: quantized } = call.input(0);
  const type = namedType(call, 'output_dtype') ?? call.input(1).type;
  return { type, shape, emit: () => conversion(call, 'Dequantize', quantized, type) };
};

/** Conversions to and from small integers and 8-bit floats. */
export const quantizationOperators: Readonly<Record<string, OnnxOperator>> = {
  DequantizeLinear: dequantizeLinear,
  QuantizeLinear: quantizeLinear,
};
