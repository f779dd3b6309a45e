import { div } from '@tilewise/core/expr';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { elementwise } from '../elementwise/elementwise.ts';
import { numeric } from '../elementwise/numeric.ts';

export const broadcastLikeSchemas = {
  BroadcastLike: {
    inputs: 'src:T like:U',
    outputs: 'dst:T',
    attributes: { divisor: { type: 'f32', default: 1 } },
  },
} as const;

/** The inverse of a reduction: the operation that spreads its gradient. */
export const broadcastLikeOperations: readonly Operation[] = defineOperations(broadcastLikeSchemas, {
  /** src / divisor, broadcast to the shape of like. Not an operation of oneDNN. */
  BroadcastLike: elementwise({
    gradient: ({ builder, attributes, inputs: [src], outputs: [dst], dy }) => {
      const bySrc = (): LogicalTensor => {
        const part = builder.op('BroadcastLike', [dy, dy], attributes);
        return builder.reduceTo(part, builder.shapeOf(dst), builder.shapeOf(src));
      };
      return [bySrc, null];
    },
    element: ([x], { divisor }) => div(numeric(x), divisor),
  }),
});
