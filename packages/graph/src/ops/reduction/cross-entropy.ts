import { and, eq, ge, lt, mul, type NumericExpr, neg, select, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation, OperationCall } from '../../ir/schema/operation.ts';
import type { ResolvedAttributes } from '../../ir/schema/schema.ts';
import type { LogicalShape, LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { checkedAxis, checkShape } from '../../ir/tensor/shape.ts';
import { orNaN } from '../elementwise/numeric.ts';

const attributes = {
  ignore_index: { type: 's64', default: -100 },
  label_smoothing: { type: 'f32', default: 0 },
} as const;

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

/** A value of a row: 0 if the label is ignored, NaN if the label is not one of the classes. */
function byLabel(value: NumericExpr, classes: number, ignored: number): NumericExpr {
  const isClass = and(ge(label, 0), lt(label, classes));
  return select(eq(label, ignored), 0, orNaN(isClass, value));
}

/** The shape (…) of the rows of logits, which the other operands must have. */
function checkedRows([{ shape }, ...others]: readonly LogicalTensor[]): LogicalShape {
  const rows = shape?.slice(0, checkedAxis(-1, shape)) ?? null;
  for (const [n, { shape: own }] of others.entries())
    checkShape(n === 0 ? 'labels of' : 'a diff_loss of', own, rows);
  return rows;
}

function constraint({
  attributes: { label_smoothing: smoothing },
}: OperationCall<ResolvedAttributes<typeof attributes>>): string | null {
  return smoothing >= 0 && smoothing <= 1
    ? null
    : `attribute 'label_smoothing' must be in [0, 1], got ${smoothing}`;
}

/** The cross-entropy loss and its gradient. */
export const crossEntropyOperations: readonly Operation[] = defineOperations(crossEntropySchemas, {
  /**
   * −ln softmax(logits)[label] of each row, for logits (…, C) and labels (…); 0 for the label ignore_index,
   * NaN for any other label outside [0, C). With label_smoothing ε, the loss is (1 − ε) times this, plus ε
   * times the mean of −ln softmax(logits) over the classes, as in PyTorch. Not an operation of oneDNN.
   */
  CrossEntropy: {
    constraint,
    infer: ({ inputs }) => [checkedRows(inputs)],
    gradient: ({ builder, attributes, inputs: [logits, labels], dy }) => {
      const { dtype } = logits;
      // Recomputed logits may be f32 although forward stored them in 16 bits.
      const operands = () => [builder.cast(builder.forward(logits), dtype), builder.forward(labels), dy];
      return [() => builder.op('CrossEntropyBackward', operands(), attributes, { dtype }), null];
    },
    lower: ({ map, softmax, reduced, temporary, inputs, outputs }, { attributes }) => {
      const [logits, labels] = inputs;
      const { shape } = logits.desc;
      const axis = shape.length - 1;
      const logarithms = temporary(shape);
      softmax({ axis, log: true, mode: 'none' }, logits, [logarithms]);
      const row = labels.desc.shape.map((_, d) => coordinate(d));
      const smoothing = attributes.label_smoothing;
      const write = (loss: NumericExpr, sums: readonly (typeof labels)[]): void =>
        map(byLabel(loss, shape[axis], attributes.ignore_index), [logarithms, labels, ...sums], outputs[0]);
      const ofLabel = neg(inputAt(0, [...row, label]));
      if (smoothing === 0) return write(ofLabel, []);
      const sums = reduced([logarithms], { axes: [axis], domain: shape, element: input(0) });
      write(sub(mul(1 - smoothing, ofLabel), mul(smoothing / shape[axis], inputAt(2, [...row, 0]))), [sums]);
    },
  },
  /**
   * The gradient of CrossEntropy with respect to logits: (softmax(logits) − ε/C − (1 − ε at the
   * label))·diff_loss of the row; 0 for the label ignore_index, NaN for any other label outside [0, C).
   */
  CrossEntropyBackward: {
    constraint,
    infer: ({ inputs }) => {
      checkedRows(inputs);
      return [inputs[0].shape];
    },
    lower: ({ map, softmax, view, temporary, inputs, outputs }, { attributes }) => {
      const [logits, labels, dy] = inputs;
      const { shape } = logits.desc;
      const axis = shape.length - 1;
      const p = temporary(shape);
      softmax({ axis, log: false, mode: 'none' }, logits, [p]);
      const column = (value: typeof labels): typeof labels =>
        view(value, [...value.desc.shape, 1], [...value.desc.strides, 0]);
      const smoothing = attributes.label_smoothing;
      const perClass = smoothing / shape[axis];
      const difference = sub(
        input(0),
        select(eq(coordinate(axis), label), 1 - smoothing + perClass, perClass),
      );
      const value = byLabel(mul(input(2), difference), shape[axis], attributes.ignore_index);
      map(value, [p, column(labels), column(dy)], outputs[0]);
    },
  },
});
