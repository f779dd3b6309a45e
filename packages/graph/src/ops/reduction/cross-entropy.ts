import { InvalidShapeError } from '@tilewise/core';
import { eq, mul, neg, select, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import type { Operation } from '../../ir/schema/operation.ts';
import { port } from '../ports.ts';

const labels = port('labels', 'I', ['i32', 'u32']);

/** The loss of predicting classes. */
export const crossEntropyOperations: readonly Operation[] = [
  {
    kind: 'CrossEntropy',
    summary:
      '−ln softmax(logits)[label] of each row, from logits (…, C) and labels (…). Not an operation of oneDNN.',
    inputs: [port('logits', 'T'), labels],
    outputs: [port('loss', 'U')],
    attributes: {},
    infer: ({ inputs: [logits, at] }) => {
      const { shape } = logits;
      if (shape && at.shape && at.shape.length !== shape.length - 1) {
        throw new InvalidShapeError(
          'CrossEntropy',
          `needs labels of [${shape.slice(0, -1)}] for [${shape}], got [${at.shape}]`,
        );
      }
      return [shape?.slice(0, -1) ?? null];
    },
    gradient: ({ builder, inputs: [logits, at], outputGradients: [dy] }) =>
      dy
        ? [
            () =>
              builder.op(
                'CrossEntropyBackward',
                [builder.forward(logits), builder.forward(at), dy],
                {},
                { dtype: logits.dtype },
              ),
            null,
          ]
        : [],
    lower: lowering => {
      const [logits, at] = lowering.inputs;
      const { shape } = logits.desc;
      const logarithms = lowering.temporary(shape);
      lowering.softmax({ axis: shape.length - 1, log: true, mode: 'none' }, logits, [logarithms]);
      const place = at.desc.shape.map((_, d) => coordinate(d));
      lowering.map(neg(inputAt(0, [...place, input(1, 'i32')])), [logarithms, at], lowering.outputs[0]);
    },
  },
  {
    kind: 'CrossEntropyBackward',
    summary:
      'The gradient by logits of CrossEntropy: (softmax(logits) − 1 at the label) times the gradient by the loss of the row.',
    inputs: [port('logits', 'T'), labels, port('diff_loss', 'U')],
    outputs: [port('diff_logits', 'T')],
    attributes: {},
    infer: ({ inputs: [logits] }) => [logits.shape],
    lower: lowering => {
      const [logits, at, dy] = lowering.inputs;
      const { shape } = logits.desc;
      const last = shape.length - 1;
      const p = lowering.temporary(shape);
      lowering.softmax({ axis: last, log: false, mode: 'none' }, logits, [p]);
      const column = (value: typeof at): typeof at =>
        lowering.view(value, [...value.desc.shape, 1], [...value.desc.strides, 0]);
      const isLabel = eq(coordinate(last), input(1, 'i32'));
      const value = mul(input(2), sub(input(0), select(isLabel, 1, 0)));
      lowering.map(value, [p, column(at), column(dy)], lowering.outputs[0]);
    },
  },
];
