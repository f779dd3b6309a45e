import { type DType, InvalidShapeError, Tensor } from '@tilewise/core';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { storageDType } from '../../ir/tensor/dtype.ts';
import { brokenScalarRule } from '../../ir/tensor/scalar.ts';
import { floats, port } from '../ports.ts';
import { copyTo } from './layout.ts';

export const constant: Operation = {
  kind: 'Constant',
  summary:
    'The numbers of an attribute, in row-major order, under a shape; one number fills it. Not an operation of oneDNN.',
  inputs: [],
  outputs: [port('dst', 'T', [...floats, 'i32', 'bool'])],
  attributes: {
    value: { type: 'f32[]', required: true },
    shape: { type: 's64[]', default: [] },
  },
  constraint: ({ attributes, outputs: [dst] }) => {
    const count = numbersOf(attributes, 'shape').reduce((n, extent) => n * extent, 1);
    const given = numbersOf(attributes, 'value');
    if (given.length !== 1 && given.length !== count)
      return `attribute 'value' must have 1 number or ${count}, got ${given.length}`;
    for (const value of given) {
      const rule = brokenScalarRule(dst.dtype, value);
      if (rule !== null) return `attribute 'value' must be ${rule}, got ${value}`;
    }
    return null;
  },
  infer: ({ attributes }) => {
    const shape = numbersOf(attributes, 'shape');
    if (shape.some(n => n < 0))
      throw new InvalidShapeError('Constant', `must have extents ≥ 0, got [${shape}]`);
    return [shape];
  },
  gradient: () => [],
  lower: lowering => {
    const { call, outputs } = lowering;
    const [dst] = call.outputs;
    copyTo(lowering, lowering.constant(constantTensor(call.attributes, storageDType(dst.dtype))), outputs[0]);
  },
};

/** The numbers of a Constant as a tensor. */
export function constantTensor(attributes: Attributes, dtype: DType): Tensor {
  const value = numbersOf(attributes, 'value');
  const shape = numbersOf(attributes, 'shape');
  const count = shape.reduce((n, extent) => n * extent, 1);
  const all = value.length === count ? value : new Array<number>(count).fill(value[0]);
  return Tensor.from(all, shape, { dtype });
}
