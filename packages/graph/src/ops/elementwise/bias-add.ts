import { InvalidShapeError } from '@tilewise/core';
import { add } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { Attributes } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { port } from '../ports.ts';

const channelAxis = ({ data_format }: Attributes, rank: number): number =>
  data_format === 'NCX' ? 1 : rank - 1;

export const biasAdd: Operation = {
  kind: 'BiasAdd',
  summary: 'Adds a bias per channel: of the last dimension for NXC, of dimension 1 for NCX.',
  inputs: [port('src', 'T'), port('bias', 'T')],
  outputs: [port('dst', 'T')],
  attributes: { data_format: { type: 'string', default: 'NXC', among: ['NXC', 'NCX'] } },
  infer: ({ attributes, inputs: [src, bias] }) => {
    if (src.shape && bias.shape) {
      const channels = src.shape[channelAxis(attributes, src.shape.length)];
      const [given] = bias.shape;
      if (bias.shape.length !== 1 || (given !== channels && given !== UNKNOWN && channels !== UNKNOWN)) {
        throw new InvalidShapeError(
          'BiasAdd',
          `needs a bias of [${channels}] for its channels, got [${bias.shape}]`,
        );
      }
    }
    return [src.shape];
  },
  gradient: ({ builder, attributes, inputs: [src], outputGradients: [dy] }) => {
    if (!dy) return [];
    const rank = builder.shapeOf(src).length;
    const channels = channelAxis(attributes, rank);
    const axes = Array.from({ length: rank }, (_, d) => d).filter(d => d !== channels);
    return [() => dy, () => (axes.length === 0 ? dy : builder.op('ReduceSum', [dy], { axes }))];
  },
  lower: lowering => {
    const [src, bias] = lowering.inputs;
    const rank = src.desc.shape.length;
    const axis = channelAxis(lowering.call.attributes, rank);
    const shape = src.desc.shape.map((n, d) => (d === axis ? n : 1));
    const strides = shape.map((_, d) => (d === axis ? bias.desc.strides[0] : 0));
    lowering.map(add(input(0), input(1)), [src, lowering.view(bias, shape, strides)], lowering.outputs[0]);
  },
};
