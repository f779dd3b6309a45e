import { InvalidShapeError } from '@tilewise/core';
import { coordinate } from '@tilewise/core/primitive';
import { numberOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import { port } from '../ports.ts';

export const genIndex: Operation = {
  kind: 'GenIndex',
  summary: 'The index along an axis of every element of src, whose values do not matter.',
  inputs: [port('src', 'T1')],
  outputs: [port('dst', 'T2', ['i32'])],
  attributes: { axis: { type: 's64', required: true } },
  gradient: 'zero',
  infer: ({ attributes, inputs: [{ shape }] }) => {
    const axis = numberOf(attributes, 'axis');
    if (shape && axisOf(axis, shape.length) === undefined) {
      throw new InvalidShapeError('GenIndex', `has no axis ${axis} in [${shape}]`);
    }
    return [shape];
  },
  lower: ({ call, map, outputs: [dst] }) => {
    const axis = axisOf(numberOf(call.attributes, 'axis'), dst.desc.shape.length);
    map(coordinate(axis ?? 0), [], dst);
  },
};
