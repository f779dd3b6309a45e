import type { GraphNode } from '../../../ir/node.ts';
import { numberOf, numbersOf } from '../../../ir/schema/attribute.ts';
import { isKnown, type LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { axisOf } from '../../../ir/tensor/shape.ts';
import type { Translations } from './translation.ts';
import { elementType, type OnnxWriter } from './writer.ts';

/** Conversions to and from 8 bits. */
export const quantization: Translations = {
  Quantize: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    quantize(src, staticParameters(attributes, dst, write), { attributes, dst }, write);
  },
  Dequantize: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const inputs = [write.name(src), ...staticParameters(attributes, src, write)];
    write.node('DequantizeLinear', inputs, axisOfChannels(attributes), write.name(dst));
  },
  DynamicQuantize: ({ inputs: [src, scales, zps], outputs: [dst], attributes }, write) => {
    if (attributes.qtype === 'per_group') {
      write.refuse('quantizes per group, which ONNX supports only along one axis');
    }
    const list = (name: string): string =>
      write.node('Reshape', [name, write.integers(attributes.qtype === 'per_tensor' ? [] : [-1])]);
    const parameters = [list(write.name(scales)), ...(zps ? [list(write.as(zps, dst.dtype))] : [])];
    quantize(src, parameters, { attributes, dst }, write);
  },
  // Written as plain operations, because ONNX supports only zero points of the data's dtype and groups along
  // one axis.
  DynamicDequantize: (node, write) => {
    const [src, scales, zps] = node.inputs;
    const x = write.as(src, 'f32');
    const centred = zps ? write.node('Sub', [x, spread(node, zps, write)]) : x;
    write.give(node.outputs[0], 'f32', 'Mul', [centred, spread(node, scales, write)]);
  },
};

const axisOfChannels = (attributes: GraphNode['attributes']) => ({
  axis: { int: numberOf(attributes, 'axis') },
});

/**
 * Writes a QuantizeLinear. The dtype of the result is named only where no zero point has it: onnxruntime
 * turns some zero points into u8, and then refuses the name of another dtype.
 * @param parameters the names of the scales, and of the zero points if there are any.
 */
function quantize(
  src: LogicalTensor,
  parameters: readonly string[],
  { attributes, dst }: { readonly attributes: GraphNode['attributes']; readonly dst: LogicalTensor },
  write: OnnxWriter,
): void {
  const named = parameters.length === 1 && { output_dtype: { int: elementType(dst.dtype) ?? 0 } };
  const given = { ...axisOfChannels(attributes), ...named };
  write.node('QuantizeLinear', [write.name(src), ...parameters], given, write.name(dst));
}

/** The scales and zero points of attributes: scalars, or one per channel. */
function staticParameters(
  attributes: GraphNode['attributes'],
  quantized: LogicalTensor,
  write: OnnxWriter,
): string[] {
  const [scales, zps] = ['scales', 'zps'].map(name => numbersOf(attributes, name));
  const shape = attributes.qtype === 'per_tensor' ? [] : [scales.length];
  return [
    write.numbers(scales, 'f32', shape),
    ...(zps.length > 0 ? [write.numbers(zps, quantized.dtype, shape)] : []),
  ];
}

/** Parameters of a dynamic dequantization in f32, so that they broadcast to the data. */
function spread(node: GraphNode, parameters: LogicalTensor, write: OnnxWriter): string {
  const { inputs, attributes } = node;
  const own = write.as(parameters, 'f32');
  if (attributes.qtype === 'per_tensor') return write.node('Reshape', [own, write.integers([])]);
  const rank = write.rankOf(inputs[0]);
  if (attributes.qtype === 'per_channel') {
    const axis = axisOf(numberOf(attributes, 'axis'), rank);
    const shape = Array.from({ length: rank }, (_, d) => (d === axis ? -1 : 1));
    return write.node('Reshape', [own, write.integers(shape)]);
  }
  const counts = write.shapeOf(parameters);
  if (!isKnown(counts)) {
    write.refuse('needs a known number of groups to be exported to ONNX');
  }
  const group = numbersOf(attributes, 'group_shape');
  const pairs = (second: (d: number) => number): number[] => counts.flatMap((n, d) => [n, second(d)]);
  const split = write.node('Reshape', [own, write.integers(pairs(() => 1))]);
  const repeated = write.node('Expand', [split, write.integers(pairs(d => group[d]))]);
  return write.node('Reshape', [repeated, write.integers(counts.map((n, d) => n * group[d]))]);
}
