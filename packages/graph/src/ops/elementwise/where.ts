import { select } from '@tilewise/core/expr';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { elementwise } from './elementwise.ts';
import { truth } from './numeric.ts';

export const whereSchemas = {
  Where: {
    inputs: 'cond:T1=bool src_0:T2=numbers|u32|bool src_1:T2=numbers|u32|bool',
    outputs: 'dst:T2=numbers|u32|bool',
    attributes: {},
  },
} as const;

/** A choice of elements, as NumPy has it. */
export const whereOperations: readonly Operation[] = defineOperations(whereSchemas, {
  Where: elementwise('Where', {
    summary:
      'src_0 where cond holds, else src_1, all three broadcast to each other. Not an operation of oneDNN.',
    element: ([cond, a, b]) => select(truth(cond), a, b),
    gradient: ({ builder, inputs, outputs, outputGradients: [dy] }) => {
      if (!dy) return [];
      const by = (n: 1 | 2) => (): LogicalTensor => {
        const kept = builder.op('Mask', [dy, builder.forward(inputs[0])], { invert: n === 2 });
        return builder.reduceTo(kept, builder.shapeOf(outputs[0]), builder.shapeOf(inputs[n]));
      };
      return [null, by(1), by(2)];
    },
  }),
});
