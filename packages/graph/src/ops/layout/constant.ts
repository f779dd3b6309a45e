import { type DType, elementCount, Tensor } from '@tilewise/core';
import { coordinate } from '@tilewise/core/primitive';
import { type Attributes, numbersOf } from '../../ir/schema/attribute.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { storageDType } from '../../ir/tensor/dtype.ts';
import { brokenScalarRule } from '../../ir/tensor/scalar.ts';
import { checkedAxis, refuse } from '../../ir/tensor/shape.ts';

export const constantSchemas = {
  Constant: {
    inputs: '',
    outputs: 'dst:T=numbers|bool',
    attributes: { value: { type: 'f32[]', required: true }, shape: { type: 's64[]', default: [] } },
  },
  GenIndex: {
    inputs: 'src:T1',
    outputs: 'dst:T2=i32',
    attributes: { axis: { type: 's64', required: true } },
  },
} as const;

/** The maximum number of elements in a constant: 1 GiB of f32. */
const MAX_ELEMENTS = 2 ** 28;

/** Operations whose results do not depend on the values of other tensors. */
export const constantOperations: readonly Operation[] = /* @__PURE__ */ defineOperations(constantSchemas, {
  /**
   * A tensor with the numbers of the attribute `value`, in row-major order; a single number fills the shape.
   * Not an operation of oneDNN.
   */
  Constant: {
    constraint: ({ attributes: { value, shape }, outputs: [dst] }) => {
      const count = elementCount(shape);
      if (count > MAX_ELEMENTS)
        return `attribute 'shape' must have at most ${MAX_ELEMENTS} elements, got [${shape}]`;
      if (value.length !== 1 && value.length !== count)
        return `attribute 'value' must have 1 number or ${count}, got ${value.length}`;
      for (const number of value) {
        const rule = brokenScalarRule(dst.dtype, number);
        if (rule !== null) return `attribute 'value' must be ${rule}, got ${number}`;
      }
      return null;
    },
    infer: ({ attributes: { shape } }) => {
      if (shape.some(n => n < 0)) refuse(`must have extents ≥ 0, got [${shape}]`);
      return [shape];
    },
    gradient: () => [],
    lower: ({ constant, copy, outputs: [to] }, { attributes, outputs: [dst] }) =>
      copy(constant(constantTensor(attributes, storageDType(dst.dtype))), to),
  },
  /** The index of every element of src along an axis. The values of src are not read. */
  GenIndex: {
    gradient: 'zero',
    infer: ({ attributes: { axis }, inputs: [{ shape }] }) => {
      if (shape) checkedAxis(axis, shape);
      return [shape];
    },
    lower: ({ map, outputs: [dst] }, { attributes: { axis } }) =>
      map(coordinate(checkedAxis(axis, dst.desc.shape)), [], dst),
  },
});

/** The numbers of a Constant as a tensor. */
export function constantTensor(attributes: Attributes, dtype: DType): Tensor {
  const value = numbersOf(attributes, 'value');
  const shape = numbersOf(attributes, 'shape');
  const count = elementCount(shape);
  const all = value.length === count ? value : new Array<number>(count).fill(value[0]);
  return Tensor.from(all, shape, { dtype });
}
