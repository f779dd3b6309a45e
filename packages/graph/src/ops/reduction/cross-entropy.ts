import { InvalidShapeError } from '@tilewise/core';
import { and, eq, ge, lt, mul, type NumericExpr, neg, select, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { orNaN } from '../elementwise/numeric.ts';

const attributes = { ignore_index: { type: 's64', default: -100 } } as const;

export const crossEntropySchemas = {
  CrossEntropy: {
    inputs: 'logits:T labels:I=i32|u32',
    outputs: 'loss:U',
    attributes: attributes as typeof attributes,
  },
  CrossEntropyBackward: {
    inputs: 'logits:T labels:I=i32|u32 diff_loss:U',
    outputs: 'diff_logits:T',
    attributes: attributes as typeof attributes,
  },
} as const;

const label = input(1, 'i32');

/** A value of a row: 0 where the label is ignored, NaN where the label is not one of the classes. */
function byLabel(value: NumericExpr, classes: number, ignored: number): NumericExpr {
  const isClass = and(ge(label, 0), lt(label, classes));
  return select(eq(label, ignored), 0, orNaN(isClass, value));
}

/** The loss of predicting classes. */
export const crossEntropyOperations: readonly Operation[] = defineOperations(crossEntropySchemas, {
  CrossEntropy: {
    summary:
      '−ln softmax(logits)[label] of each row, for logits (…, C) and labels (…): 0 for the label ignore_index, NaN for any other label outside [0, C). Not an operation of oneDNN.',
    infer: ({ inputs: [{ shape }, labels] }) => {
      if (shape && labels.shape && labels.shape.length !== shape.length - 1) {
        const rule = `needs labels of [${shape.slice(0, -1)}] for [${shape}], got [${labels.shape}]`;
        throw new InvalidShapeError('CrossEntropy', rule);
      }
      return [shape?.slice(0, -1) ?? null];
    },
    gradient: ({ builder, attributes, inputs: [logits, labels], outputGradients: [dy] }) => {
      if (!dy) return [];
      const { dtype } = logits;
      const operands = () => [builder.forward(logits), builder.forward(labels), dy];
      return [() => builder.op('CrossEntropyBackward', operands(), attributes, { dtype }), null];
    },
    lower: (lowering, { attributes }) => {
      const [logits, labels] = lowering.inputs;
      const { shape } = logits.desc;
      const axis = shape.length - 1;
      const logarithms = lowering.temporary(shape);
      lowering.softmax({ axis, log: true, mode: 'none' }, logits, [logarithms]);
      const row = labels.desc.shape.map((_, d) => coordinate(d));
      const loss = byLabel(neg(inputAt(0, [...row, label])), shape[axis], attributes.ignore_index);
      lowering.map(loss, [logarithms, labels], lowering.outputs[0]);
    },
  },
  CrossEntropyBackward: {
    summary:
      'The gradient by logits of CrossEntropy: (softmax(logits) − 1 at the label)·diff_loss of the row; 0 or NaN where the loss is not of a class.',
    infer: ({ inputs: [logits] }) => [logits.shape],
    lower: (lowering, { attributes }) => {
      const [logits, labels, dy] = lowering.inputs;
      const { shape } = logits.desc;
      const axis = shape.length - 1;
      const p = lowering.temporary(shape);
      lowering.softmax({ axis, log: false, mode: 'none' }, logits, [p]);
      const column = (value: typeof labels): typeof labels =>
        lowering.view(value, [...value.desc.shape, 1], [...value.desc.strides, 0]);
      const difference = sub(input(0), select(eq(coordinate(axis), label), 1, 0));
      const value = byLabel(mul(input(2), difference), shape[axis], attributes.ignore_index);
      lowering.map(value, [p, column(labels), column(dy)], lowering.outputs[0]);
    },
  },
});
