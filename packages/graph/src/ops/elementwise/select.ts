import { not, select } from '@tilewise/core/expr';
import { defineOperations } from '../../ir/schema/define.ts';
import type { GradientCall, InputGradient, Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { broadcastShapes, broadcastTo } from '../../ir/tensor/shape.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric, truth } from './numeric.ts';

export const selectSchemas = {
  Select: {
    inputs: 'cond:T1=bool src_0:T2 src_1:T2',
    outputs: 'dst:T2',
    attributes: autoBroadcast as typeof autoBroadcast,
  },
  Mask: {
    inputs: 'src:T1 cond:T2=bool',
    outputs: 'dst:T1',
    attributes: { invert: { type: 'bool', default: false } },
  },
  Where: {
    inputs: 'cond:T1=bool src_0:T2=numbers|u32|bool src_1:T2=numbers|u32|bool',
    outputs: 'dst:T2=numbers|u32|bool',
    attributes: {},
  },
} as const;

/** The gradient of an operation that chooses between its inputs 1 and 2 by its input 0. */
function gradientOfChoice<A>(call: GradientCall<A>): readonly (InputGradient | null)[] {
  const { builder, inputs, outputs, dy } = call;
  const by = (n: 1 | 2) => (): LogicalTensor => {
    const kept = builder.op('Mask', [dy, builder.forward(inputs[0])], { invert: n === 2 });
    return builder.reduceTo(kept, builder.shapeOf(outputs[0]), builder.shapeOf(inputs[n]));
  };
  return [null, by(1), by(2)];
}

/** Operations that choose elements by a condition. */
export const selectOperations: readonly Operation[] = defineOperations(selectSchemas, {
  /**
   * src_0 where cond is true, else src_1. src_0 and src_1 broadcast to each other, and cond broadcasts to
   * their shape.
   */
  Select: {
    ...elementwise({
      commutative: [1, 2],
      element: ([cond, a, b]) => select(truth(cond), numeric(a), numeric(b)),
    }),
    gradient: gradientOfChoice,
    infer: ({ inputs: [cond, a, b] }) => {
      const shape = broadcastShapes(a.shape, b.shape);
      return [broadcastTo(shape, [cond])];
    },
  },
  /** src where cond is true (with invert: where it is false), else 0. Not an operation of oneDNN. */
  Mask: elementwise({
    gradient: ({ builder, attributes, inputs: [src, cond], outputs: [dst], dy }) => {
      const bySrc = (): LogicalTensor => {
        const kept = builder.op('Mask', [dy, builder.forward(cond)], attributes);
        return builder.reduceTo(kept, builder.shapeOf(dst), builder.shapeOf(src));
      };
      return [bySrc, null];
    },
    element: ([src, cond], { invert }) => {
      const holds = truth(cond);
      return select(invert ? not(holds) : holds, numeric(src), 0);
    },
  }),
  /** src_0 where cond is true, else src_1. All three broadcast to each other. Not an operation of oneDNN. */
  Where: elementwise({
    element: ([cond, a, b]) => select(truth(cond), a, b),
    gradient: gradientOfChoice,
  }),
});
