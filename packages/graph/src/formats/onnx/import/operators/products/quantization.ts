import type { Attributes } from '../../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { type ElementType, elementTypeOf } from '../../file/element-type.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { staticNumbers } from '../../value.ts';
import { reshape } from '../emit.ts';

/** Types that a float is quantised to. */
const quantizedTypes: readonly string[] = ['u8', 'i8', 'f8e4m3', 'f8e5m2'];

/**
 * An operation of the graph between floats and 8 bits: with numbers in its attributes where scales and zero
 * points are known, else with tensors. There is one scale, or one for each element of an axis; blocks along
 * an axis are refused.
 */
function conversion(
  call: NodeCall,
  kind: 'Quantize' | 'Dequantize',
  { quantized, result }: { quantized: ElementType; result: ElementType },
): LogicalTensor {
  const { shape, tensor } = call.input(0);
  const [scales, zeros] = [call.input(1), call.optional(2)];
  if (quantized.bits !== 8 || !quantizedTypes.includes(quantized.dtype))
    call.refuse(`quantises to ${quantized.name}, not to 8 bits`);
  if (scales.shape.length > 1 || call.int('block_size', 0) > 0)
    call.refuse(
      `has scales of shape [${scales.shape}]; one scale, or one for each element of an axis, is read`,
    );
  const isChannel = scales.shape.length === 1 && scales.shape[0] !== 1;
  const axis = isChannel ? call.axis(call.int('axis', 1), shape.length) : 0;
  const qtype = isChannel ? 'per_channel' : 'per_tensor';
  const [known, points] = [staticNumbers(scales), zeros ? staticNumbers(zeros) : []];
  if (known && points) {
    // 8-bit floats have no zero points.
    const attributes: Attributes = { qtype, axis, scales: known };
    const zps = quantized.kind === 'float' || points.length === 0 ? null : points;
    return call.draft.op(kind, [tensor()], zps ? { ...attributes, zps } : attributes, result.dtype);
  }
  const parameters = [scales, ...(zeros ? [zeros] : [])].map(value =>
    reshape(call.draft, value.tensor(), [isChannel ? (shape[axis] ?? 1) : 1]),
  );
  return call.draft.op(`Dynamic${kind}`, [tensor(), ...parameters], { qtype, axis }, result.dtype);
}

const quantizeLinear: OnnxOperator = call => {
  const { shape } = call.input(0);
  const number = call.int('output_dtype', 0) || 2;
  const type =
    call.optional(2)?.type ??
    elementTypeOf(number) ??
    call.refuse(`quantises to the element type ${number}, which engines do not have`);
  return { type, shape, emit: () => conversion(call, 'Quantize', { quantized: type, result: type }) };
};

const dequantizeLinear: OnnxOperator = call => {
  const { shape, type: quantized } = call.input(0);
  const { type: result } = call.input(1);
  return { type: result, shape, emit: () => conversion(call, 'Dequantize', { quantized, result }) };
};

/** To and from 8 bits. */
export const quantizationOperators: Readonly<Record<string, OnnxOperator>> = {
  DequantizeLinear: dequantizeLinear,
  QuantizeLinear: quantizeLinear,
};
