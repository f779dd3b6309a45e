import { InvalidShapeError } from '@tilewise/core';
import { exp, mul, type NumericExpr, sub } from '@tilewise/core/expr';
import { input, reduced } from '@tilewise/core/primitive';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { numberOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { LogicalShape, LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf, broadcastShapes } from '../../ir/tensor/shape.ts';
import { optionalPort, port } from '../ports.ts';

const sameOrF32 = (a: string, b: string): boolean => a === b || a === 'f32' || b === 'f32';

function softmaxAxis(kind: string, attributes: Attributes, shape: readonly number[]): number {
  const axis = numberOf(attributes, 'axis');
  const own = axisOf(axis, shape.length);
  if (own === undefined) throw new InvalidShapeError(kind, `has no axis ${axis} in [${shape}]`);
  return own;
}

function withAxisOne(kind: string, attributes: Attributes, shape: LogicalShape): LogicalShape {
  if (shape === null) return null;
  const axis = softmaxAxis(kind, attributes, shape);
  return shape.map((n, d) => (d === axis ? 1 : n));
}

export const softmax: Operation = {
  kind: 'SoftMax',
  summary:
    'e^(x − max) / Σ e^(x − max) along an axis; stats: max + ln Σ e^(x − max). Of −∞ alone it is NaN, with inf_as_zero 0, as are stats.',
  inputs: [port('src', 'T1')],
  outputs: [port('dst', 'T2'), optionalPort('stats', 'T3', ['f32'])],
  attributes: {
    axis: { type: 's64', default: 1 },
    mode: { type: 'string', default: 'none', among: ['none', 'inf_as_zero'] },
  },
  constraint: ({ inputs: [src], outputs: [dst] }) =>
    sameOrF32(src.dtype, dst.dtype) ? null : `output 'dst' must be ${src.dtype} or f32, got ${dst.dtype}`,
  gradient: call => {
    const { builder, attributes, inputs, outputs, outputGradients } = call;
    const [src] = inputs;
    const [dst, stats] = outputs;
    const [dy, dStats] = outputGradients;
    const { axis } = attributes;
    const byDst = (given: LogicalTensor): LogicalTensor => {
      const shape = builder.shapeOf(dst);
      const isLast = axisOf(axis as number, shape.length) === shape.length - 1;
      // dst∘(dy − Σ dst∘dy): with the probabilities from their stats it is the gradient of attention.
      const sum = isLast && stats && builder.isGiven(stats) ? call.rowSum() : null;
      if (!sum) {
        const dtype = given.dtype === src.dtype ? given.dtype : 'f32';
        return builder.op('SoftMaxBackward', [given, builder.forward(dst)], { axis }, { dtype });
      }
      const P = builder.cast(builder.forward(dst), 'f32');
      return builder.op('Multiply', [P, builder.op('Subtract', [builder.cast(given, 'f32'), sum])]);
    };
    // ∂ ln Σ eˣ / ∂ x is the softmax itself.
    const byStats = (given: LogicalTensor): LogicalTensor =>
      builder.op('Multiply', [given, builder.forward(dst)]);
    if (!dy && !dStats) return [];
    return [
      () =>
        dy && dStats
          ? builder.op('Add', [byDst(dy), byStats(dStats)], {}, { dtype: 'f32' })
          : dy
            ? byDst(dy)
            : byStats(dStats as LogicalTensor),
    ];
  },
  // P = e^(S − stats): nothing is summed again, and a backward pass is recognised by it.
  recompute: ({ inputs: [src], outputs: [, stats] }, builder) => {
    if (!stats || !builder.isGiven(stats)) return null;
    const scores = builder.cast(builder.forward(src), 'f32');
    return builder.op('Exp', [builder.op('Subtract', [scores, builder.forward(stats)])]);
  },
  infer: ({ attributes, inputs: [{ shape }], outputs }) => {
    const stats = withAxisOne('SoftMax', attributes, shape);
    return outputs.length > 1 ? [shape, stats] : [shape];
  },
  lower: ({ call, softmax, inputs: [src], outputs }) => {
    const axis = softmaxAxis('SoftMax', call.attributes, src.desc.shape);
    const mode = call.attributes.mode === 'inf_as_zero' ? 'inf-as-zero' : 'none';
    softmax({ axis, log: false, mode }, src, outputs);
  },
};

export const logSoftmax: Operation = {
  kind: 'LogSoftmax',
  summary: 'The logarithm of the softmax along an axis.',
  inputs: [port('src', 'T')],
  outputs: [port('dst', 'T')],
  attributes: { axis: { type: 's64', default: -1 } },
  gradient: ({ builder, attributes, outputs: [dst], outputGradients: [dy] }) =>
    dy
      ? [
          () =>
            builder.op('LogSoftmaxBackward', [dy, builder.cast(builder.forward(dst), dy.dtype)], {
              axis: attributes.axis,
            }),
        ]
      : [],
  infer: ({ attributes, inputs: [{ shape }] }) => {
    withAxisOne('LogSoftmax', attributes, shape);
    return [shape];
  },
  lower: ({ call, softmax, inputs: [src], outputs }) => {
    const axis = softmaxAxis('LogSoftmax', call.attributes, src.desc.shape);
    softmax({ axis, log: true, mode: 'none' }, src, outputs);
  },
};

interface BackwardDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly axis: number;
  /** What is summed along the axis, of the gradient and the forward result. */
  readonly element: (dy: NumericExpr, y: NumericExpr) => NumericExpr;
  readonly result: (dy: NumericExpr, y: NumericExpr, sum: NumericExpr) => NumericExpr;
  readonly mixed: boolean;
}

function softmaxBackward({ kind, summary, axis, element, result, mixed }: BackwardDefinition): Operation {
  return {
    kind,
    summary,
    inputs: [port('diff_dst', 'T1'), port('dst', mixed ? 'T2' : 'T1')],
    outputs: [port('diff_src', mixed ? 'T3' : 'T1')],
    attributes: { axis: { type: 's64', default: axis } },
    constraint: ({ inputs: [diff], outputs: [out] }) =>
      out.dtype === diff.dtype || out.dtype === 'f32'
        ? null
        : `output 'diff_src' must be ${diff.dtype} or f32, got ${out.dtype}`,
    infer: ({ attributes, inputs: [diff, dst] }) => {
      const shape = broadcastShapes(kind, diff.shape, dst.shape);
      withAxisOne(kind, attributes, shape);
      return [shape];
    },
    lower: lowering => {
      const [diff, dst] = lowering.inputs;
      const domain = diff.desc.shape;
      const over = softmaxAxis(kind, lowering.call.attributes, domain);
      const sum = lowering.temporary(domain.map((n, d) => (d === over ? 1 : n)));
      lowering.reduce(
        { op: 'sum', axes: [over], domain, element: element(input(0), input(1)), result: reduced },
        [diff, dst],
        sum,
      );
      lowering.map(result(input(0), input(1), input(2)), [diff, dst, sum], lowering.outputs[0]);
    },
  };
}

/** The gradients of softmax and of its logarithm, from the results of forward. */
export const softmaxBackwardOperations: readonly Operation[] = [
  softmaxBackward({
    kind: 'SoftMaxBackward',
    summary: 'dst·(diff_dst − Σ dst·diff_dst) along an axis: the gradient of SoftMax from its result.',
    axis: 1,
    element: (dy, y) => mul(dy, y),
    result: (dy, y, sum) => mul(y, sub(dy, sum)),
    mixed: true,
  }),
  softmaxBackward({
    kind: 'LogSoftmaxBackward',
    summary: 'diff_dst − e^dst·Σ diff_dst along an axis: the gradient of LogSoftmax from its result.',
    axis: -1,
    element: dy => dy,
    result: (dy, y, sum) => sub(dy, mul(exp(y), sum)),
    mixed: false,
  }),
];
