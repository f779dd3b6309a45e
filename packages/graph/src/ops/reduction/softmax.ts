import { exp, mul, type NumericExpr, sub } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { defineOperations, type OperationRules } from '../../ir/schema/define.ts';
import type { GradientCall, Operation } from '../../ir/schema/operation.ts';
import { resultRule } from '../../ir/schema/result-rule.ts';
import type { ResolvedAttributes } from '../../ir/schema/schema.ts';
import type { LogicalShape, LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf, broadcastShapes, checkedAxis, withExtent } from '../../ir/tensor/shape.ts';

export const softmaxSchemas = {
  SoftMax: {
    inputs: 'src:T1',
    outputs: 'dst:T2 stats?:T3=f32',
    attributes: {
      axis: { type: 's64', default: 1 },
      mode: { type: 'string', default: 'none', among: ['none', 'inf_as_zero'] },
    },
  },
  LogSoftmax: { inputs: 'src:T', outputs: 'dst:T', attributes: { axis: { type: 's64', default: -1 } } },
  SoftMaxBackward: {
    inputs: 'diff_dst:T1 dst:T2',
    outputs: 'diff_src:T3',
    attributes: { axis: { type: 's64', default: 1 } },
  },
  LogSoftmaxBackward: {
    inputs: 'diff_dst:T1 dst:T1',
    outputs: 'diff_src:T1',
    attributes: { axis: { type: 's64', default: -1 } },
  },
} as const;

type SoftmaxAttributes = ResolvedAttributes<typeof softmaxSchemas.SoftMax.attributes>;

function withAxisOne(axis: number, shape: LogicalShape): LogicalShape {
  if (shape === null) return null;
  return withExtent(shape, checkedAxis(axis, shape), 1);
}

function softmaxGradient(call: GradientCall<SoftmaxAttributes>): readonly (() => LogicalTensor)[] {
  const { builder, attributes, inputs, outputs, outputGradients } = call;
  const [src] = inputs;
  const [dst, stats] = outputs;
  const [dy, dStats] = outputGradients;
  const { axis } = attributes;
  const byDst = (given: LogicalTensor): LogicalTensor => {
    const shape = builder.shapeOf(dst);
    const isLast = axisOf(axis, shape.length) === shape.length - 1;
    // dst∘(dy − Σ dst∘dy): with probabilities recomputed from stats, this is the gradient of attention.
    const sum = isLast && stats && builder.isGiven(stats) ? call.rowSum() : null;
    if (!sum) {
      const dtype = given.dtype === src.dtype ? given.dtype : 'f32';
      return builder.op('SoftMaxBackward', [given, builder.forward(dst)], { axis }, { dtype });
    }
    const P = builder.cast(builder.forward(dst), 'f32');
    return builder.op('Multiply', [P, builder.op('Subtract', [builder.cast(given, 'f32'), sum])]);
  };
  // ∂ ln Σ eˣ / ∂ x is the softmax of x.
  const byStats = (given: LogicalTensor): LogicalTensor =>
    builder.op('Multiply', [given, builder.forward(dst)]);
  if (dy && dStats) return [() => builder.op('Add', [byDst(dy), byStats(dStats)], {}, { dtype: 'f32' })];
  if (dy) return [() => byDst(dy)];
  return dStats ? [() => byStats(dStats)] : [];
}

interface BackwardDefinition {
  /** The term summed along the axis, from the gradient and the forward result. */
  readonly element: (dy: NumericExpr, y: NumericExpr) => NumericExpr;
  readonly result: (dy: NumericExpr, y: NumericExpr, sum: NumericExpr) => NumericExpr;
}

function softmaxBackward({
  element,
  result,
}: BackwardDefinition): OperationRules<typeof softmaxSchemas.SoftMaxBackward> {
  return {
    constraint: ({ inputs: [diff], outputs: [out] }) => resultRule(diff, out, 'diff_src'),
    infer: ({ attributes: { axis }, inputs: [diff, dst] }) => {
      const shape = broadcastShapes(diff.shape, dst.shape);
      withAxisOne(axis, shape);
      return [shape];
    },
    lower: ({ map, reduced, inputs: [diff, dst], outputs }, { attributes }) => {
      const domain = outputs[0].desc.shape;
      const axes = [checkedAxis(attributes.axis, domain)];
      const sum = reduced([diff, dst], { axes, domain, element: element(input(0), input(1)) });
      map(result(input(0), input(1), input(2)), [diff, dst, sum], outputs[0]);
    },
  };
}

/** Softmax, its logarithm, and the gradients of both, computed from the results of forward. */
export const softmaxOperations: readonly Operation[] = defineOperations(softmaxSchemas, {
  /**
   * e^(x − max) / Σ e^(x − max) along an axis; stats are max + ln Σ e^(x − max). For a row of −∞ both are
   * NaN, or, with inf_as_zero, 0.
   */
  SoftMax: {
    // The result of an f32 src may be stored in any float dtype.
    constraint: ({ inputs: [src], outputs: [dst] }) =>
      src.dtype === 'f32' ? null : resultRule(src, dst, 'dst'),
    gradient: softmaxGradient,
    // P = e^(S − stats) needs no second sum, and the optimizer recognises attention backward by this form.
    recompute: ({ inputs: [src], outputs: [, stats] }, builder) => {
      if (!stats || !builder.isGiven(stats)) return null;
      const scores = builder.cast(builder.forward(src), 'f32');
      return builder.op('Exp', [builder.op('Subtract', [scores, builder.forward(stats)])]);
    },
    infer: ({ attributes: { axis }, inputs: [{ shape }], outputs }) => {
      const stats = withAxisOne(axis, shape);
      return outputs.length > 1 ? [shape, stats] : [shape];
    },
    lower: ({ softmax, inputs: [src], outputs }, { attributes }) => {
      const axis = checkedAxis(attributes.axis, src.desc.shape);
      const mode = attributes.mode === 'inf_as_zero' ? 'inf-as-zero' : 'none';
      softmax({ axis, log: false, mode }, src, outputs);
    },
  },
  /** The logarithm of the softmax along an axis. */
  LogSoftmax: {
    gradient: ({ builder, attributes: { axis }, outputs: [dst], dy }) => {
      const y = (): LogicalTensor => builder.cast(builder.forward(dst), dy.dtype);
      return [() => builder.op('LogSoftmaxBackward', [dy, y()], { axis })];
    },
    infer: ({ attributes: { axis }, inputs: [{ shape }] }) => {
      withAxisOne(axis, shape);
      return [shape];
    },
    lower: ({ softmax, inputs: [src], outputs }, { attributes }) => {
      const axis = checkedAxis(attributes.axis, src.desc.shape);
      softmax({ axis, log: true, mode: 'none' }, src, outputs);
    },
  },
  /** The gradient of SoftMax from its result: dst·(diff_dst − Σ dst·diff_dst) along an axis. */
  SoftMaxBackward: softmaxBackward({
    element: (dy, y) => mul(dy, y),
    result: (dy, y, sum) => mul(y, sub(dy, sum)),
  }),
  /** The gradient of LogSoftmax from its result: diff_dst − e^dst·Σ diff_dst along an axis. */
  LogSoftmaxBackward: softmaxBackward({
    element: dy => dy,
    result: (dy, y, sum) => sub(dy, mul(exp(y), sum)),
  }),
});
