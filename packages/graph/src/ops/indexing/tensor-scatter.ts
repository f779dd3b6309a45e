import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { agree, checkedAxis, refuse, withExtent } from '../../ir/tensor/shape.ts';
import { gatherOrZero } from './gather-elements.ts';

export const tensorScatterSchemas = {
  TensorScatter: {
    inputs: 'past:T=floats|i32|u32|bool update:T=floats|i32|u32|bool first:I=i32|u32',
    outputs: 'present:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', default: -2 } },
  },
} as const;

/** Writes parts of tensors in place, such as new keys and values in a cache. */
export const tensorScatterOperations: readonly Operation[] = defineOperations(tensorScatterSchemas, {
  /**
   * past with update written into it along an axis: entry b of the first dimension starts at element
   * first[b]. Elements that would be outside past are dropped. If present is bound to the memory of past,
   * only update is written, so that a cache grows in place. Not an operation of oneDNN.
   */
  TensorScatter: {
    infer: ({ attributes: { axis }, inputs: [past, update, first] }) => {
      const { shape } = past;
      if (shape === null || update.shape === null || first.shape === null) return [shape];
      const d = checkedAxis(axis, shape);
      const count = update.shape[d];
      const fits =
        d > 0 &&
        agree(update.shape, withExtent(shape, d, count)) &&
        agree(first.shape, [shape[0]]) &&
        (count <= shape[d] || shape[d] < 0);
      if (!fits)
        refuse(
          `cannot write [${update.shape}] into [${shape}] along axis ${axis} with first of shape [${first.shape}]`,
        );
      return [shape];
    },
    gradient: ({ builder, attributes: { axis }, inputs: [past, update, first], dy }) => {
      const shape = builder.shapeOf(update);
      const whole = builder.shapeOf(past);
      const d = checkedAxis(axis, whole);
      const at = builder.forward(first);
      const byPast = (): typeof dy =>
        builder.op('TensorScatter', [dy, builder.constant(0, dy.dtype, shape), at], { axis });
      const byUpdate = (): typeof dy => {
        const own = builder.op('GenIndex', [builder.forward(update)], { axis: d }, { dtype: 'i32' });
        const begin = builder.reshape(builder.cast(at, 'i32'), [shape[0], ...shape.slice(1).map(() => 1)]);
        return gatherOrZero(builder, dy, builder.op('Add', [own, begin]), d, whole);
      };
      return [byPast, byUpdate, null];
    },
    inPlace: true,
    lower: ({ copy, tensorScatter, inputs: [past, update, first], outputs: [present] }, { attributes }) => {
      copy(past, present);
      tensorScatter(checkedAxis(attributes.axis, past.desc.shape), update, first, present);
    },
  },
});
