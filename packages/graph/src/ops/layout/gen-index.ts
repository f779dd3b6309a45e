import { InvalidShapeError } from '@tilewise/core';
import { coordinate } from '@tilewise/core/primitive';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { axisOf } from '../../ir/tensor/shape.ts';

export const genIndexSchemas = {
  GenIndex: {
    inputs: 'src:T1',
    outputs: 'dst:T2=i32',
    attributes: { axis: { type: 's64', required: true } },
  },
} as const;

export const genIndexOperations: readonly Operation[] = defineOperations(genIndexSchemas, {
  GenIndex: {
    summary: 'The index of every element of src along an axis. The values of src are not read.',
    gradient: 'zero',
    infer: ({ attributes: { axis }, inputs: [{ shape }] }) => {
      if (shape && axisOf(axis, shape.length) === undefined) {
        throw new InvalidShapeError('GenIndex', `has no axis ${axis} in [${shape}]`);
      }
      return [shape];
    },
    lower: ({ map, outputs: [dst] }, { attributes }) =>
      map(coordinate(axisOf(attributes.axis, dst.desc.shape.length) ?? 0), [], dst),
  },
});
