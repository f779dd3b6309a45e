import { InvalidShapeError } from '@tilewise/core';
import { not, select } from '@tilewise/core/expr';
import type { Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { broadcastShapes } from '../../ir/tensor/shape.ts';
import { port } from '../ports.ts';
import { autoBroadcast, elementwise } from './elementwise.ts';
import { numeric, truth } from './numeric.ts';

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
  gradient: ({ builder, inputs, outputs, outputGradients: [dy] }) => {
    const by = (n: 1 | 2) => (): LogicalTensor => {
      const kept = builder.op('Mask', [dy as LogicalTensor, builder.forward(inputs[0])], { invert: n === 2 });
      return builder.reduceTo(kept, builder.shapeOf(outputs[0]), builder.shapeOf(inputs[n]));
    };
    return dy ? [null, by(1), by(2)] : [];
  },
  infer: ({ inputs: [cond, a, b] }) => {
    const shape = broadcastShapes('Select', a.shape, b.shape);
    const all = broadcastShapes('Select', cond.shape, shape);
    if (shape && all && `${all}` !== `${shape}`) {
      throw new InvalidShapeError('Select', `cannot broadcast cond [${cond.shape}] to [${shape}]`);
    }
    return [shape];
  },
};

export const mask: Operation = {
  ...elementwise({
    kind: 'Mask',
    summary: 'src where cond holds (or with invert where it does not), else 0. Not an operation of oneDNN.',
    inputs: [port('src', 'T1'), port('cond', 'T2', ['bool'])],
    outputs: [port('dst', 'T1')],
    attributes: { invert: { type: 'bool', default: false } },
    gradient: ({ builder, attributes, inputs: [src, cond], outputs, outputGradients: [dy] }) =>
      dy
        ? [
            () =>
              builder.reduceTo(
                builder.op('Mask', [dy, builder.forward(cond)], attributes),
                builder.shapeOf(outputs[0]),
                builder.shapeOf(src),
              ),
            null,
          ]
        : [],
    element: ([src, cond], { invert }) => {
      const holds = truth(cond);
      return select(invert === true ? not(holds) : holds, numeric(src), 0);
    },
  }),
};
