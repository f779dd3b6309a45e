import { InvalidShapeError } from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { broadcastShapes } from '../../ir/tensor/shape.ts';

export const expandSchemas = {
  Expand: {
    inputs: 'src:T=floats|i32|u32|bool',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: { shape: { type: 's64[]', required: true } },
  },
} as const;

/** A tensor under a larger shape. */
export const expandOperations: readonly Operation[] = defineOperations(expandSchemas, {
  Expand: {
    summary: 'src, broadcast to what its shape and `shape` broadcast to. Not an operation of oneDNN.',
    infer: ({ attributes: { shape }, inputs: [src] }) => {
      if (shape.some(n => n < 0)) throw new InvalidShapeError('Expand', `needs extents ≥ 0, got [${shape}]`);
      return [broadcastShapes('Expand', src.shape, shape)];
    },
    gradient: ({ builder, inputs: [src], outputs: [dst], dy }) => [
      () => builder.reduceTo(dy, builder.shapeOf(dst), builder.shapeOf(src)),
    ],
    lower: ({ map, inputs: [src], outputs: [dst] }) => map(input(0, exprType(src.desc.dtype)), [src], dst),
  },
});
