import { InvalidShapeError } from '@tilewise/core';
import { select } from '@tilewise/core/expr';
import type { Operation } from '../schema/operation.ts';
import { broadcastShapes } from '../shape/broadcast.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric, truth } from './numeric.ts';
import { port } from './ports.ts';

export const selectOperation: Operation = {
  ...elementwise({
    kind: 'Select',
    summary: 'src_0 where cond holds, else src_1; cond is broadcast to what the two broadcast to.',
    inputs: [port('cond', 'T1', ['bool']), port('src_0', 'T2'), port('src_1', 'T2')],
    outputs: [port('dst', 'T2')],
    attributes: autoBroadcast,
    commutative: [1, 2],
    element: ([cond, a, b]) => select(truth(cond), numeric(a), numeric(b)),
  }),
  infer: ({ inputs: [cond, a, b] }) => {
    const shape = broadcastShapes('Select', a.shape, b.shape);
    const all = broadcastShapes('Select', cond.shape, shape);
    if (shape && all && `${all}` !== `${shape}`) {
      throw new InvalidShapeError('Select', `cannot broadcast cond [${cond.shape}] to [${shape}]`);
    }
    return [shape];
  },
};
