import { InvalidShapeError } from '@tilewise/core';
import { add } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { UNKNOWN } from '../../ir/tensor/logical-tensor.ts';

export const biasAddSchemas = {
  BiasAdd: {
    inputs: 'src:T bias:T',
    outputs: 'dst:T',
    attributes: { data_format: { type: 'string', default: 'NXC', among: ['NXC', 'NCX'] } },
  },
} as const;

const channelAxis = (format: 'NXC' | 'NCX', rank: number): number => (format === 'NCX' ? 1 : rank - 1);

export const biasAddOperations: readonly Operation[] = defineOperations(biasAddSchemas, {
  BiasAdd: {
    summary:
      'Adds one bias for each channel; channels are the last dimension for NXC and dimension 1 for NCX.',
    infer: ({ attributes, inputs: [src, bias] }) => {
      if (src.shape && bias.shape) {
        const channels = src.shape[channelAxis(attributes.data_format, src.shape.length)];
        const [given] = bias.shape;
        if (bias.shape.length !== 1 || (given !== channels && given !== UNKNOWN && channels !== UNKNOWN)) {
          const rule = `needs a bias of [${channels}] for its channels, got [${bias.shape}]`;
          throw new InvalidShapeError('BiasAdd', rule);
        }
      }
      return [src.shape];
    },
    gradient: ({ builder, attributes, inputs: [src], dy }) => {
      const rank = builder.shapeOf(src).length;
      const channels = channelAxis(attributes.data_format, rank);
      const axes = Array.from({ length: rank }, (_, d) => d).filter(d => d !== channels);
      return [() => dy, () => (axes.length === 0 ? dy : builder.op('ReduceSum', [dy], { axes }))];
    },
    lower: ({ map, view, inputs: [src, bias], outputs: [dst] }, { attributes }) => {
      const axis = channelAxis(attributes.data_format, src.desc.shape.length);
      const shape = src.desc.shape.map((n, d) => (d === axis ? n : 1));
      const strides = shape.map((_, d) => (d === axis ? bias.desc.strides[0] : 0));
      map(add(input(0), input(1)), [src, view(bias, shape, strides)], dst);
    },
  },
});
