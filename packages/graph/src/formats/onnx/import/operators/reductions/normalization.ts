import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';

/** x (B, C, …) with a mean of 0 and a variance of 1 in each channel. */
function standardised(call: NodeCall, x: LogicalTensor, epsilon: number): LogicalTensor {
  const { draft } = call;
  // The first two dimensions change places, and back.
  const order = shapeOf(x).map((_, d) => (d < 2 ? 1 - d : d));
  const channelsFirst = draft.transpose(x, order);
  const shape = shapeOf(channelsFirst);
  const rows = draft.reshape(channelsFirst, [shape[0], elementCount(shape.slice(1))]);
  const normal = draft.op('LayerNorm', [rows], { begin_norm_axis: 1, epsilon });
  return draft.transpose(draft.reshape(normal, shape), order);
}

/**
 * (x − mean) / √(variance + ε) · scale + bias, with each channel's learned mean and variance or, in training
 * mode, those of x.
 */
const batchNormalization: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  if (!call.flag('spatial', true)) call.refuse("has 'spatial' = 0, which is not supported");
  const { draft } = call;
  const epsilon = call.float('epsilon', 1e-5);
  const normal = result({ type, shape }, () => {
    const [scale, bias, mean, variance] = [1, 2, 3, 4].map(n =>
      draft.channels(call.input(n).tensor(), shape.length),
    ) as [LogicalTensor, LogicalTensor, LogicalTensor, LogicalTensor];
    if (call.flag('training_mode', false)) {
      const x = standardised(call, tensor(), epsilon);
      return draft.op('Add', [draft.op('Multiply', [x, scale]), bias]);
    }
    const sum = draft.op('Add', [variance, draft.scalar(epsilon, variance.dtype)]);
    const rate = draft.op('Pow', [sum], { beta: -0.5 });
    const centred = draft.op('Subtract', [tensor(), mean]);
    const scaled = draft.op('Multiply', [centred, draft.op('Multiply', [rate, scale])]);
    return draft.op('Add', [scaled, bias]);
  });
  const running = result({ type, shape: call.shape(3) }, () =>
    call.refuse('has running statistics as outputs, which are not supported'),
  );
  return [normal, running, running];
};

/** Normalises the channels of each group, then applies scale and bias. A group is a row of a layer norm. */
const groupNorm =
  (groupsOf: (call: NodeCall, channels: number) => number): OnnxOperator =>
  call => {
    const { type, shape, tensor } = call.input(0);
    const [B = 1, C = 1, ...image] = shape;
    const groups = groupsOf(call, C);
    if (groups < 1 || C % groups !== 0) call.fail(`cannot divide ${C} channels into ${groups} groups`);
    const { draft } = call;
    const affine = (n: number): LogicalTensor => {
      const own = call.input(n).tensor();
      const count = elementCount(shapeOf(own));
      // Before version 21, scale and bias have one number per group.
      if (count === C) return draft.channels(own, shape.length);
      const wide = draft.op('Expand', [draft.reshape(own, [count, 1])], { shape: [count, C / count] });
      return draft.channels(draft.reshape(wide, [C]), shape.length);
    };
    return result({ type, shape }, () => {
      const rows = draft.reshape(tensor(), [B, groups, (C / groups) * elementCount(image)]);
      const attributes = { begin_norm_axis: 2, epsilon: call.float('epsilon', 1e-5) };
      const normal = draft.reshape(draft.op('LayerNorm', [rows], attributes), shape);
      return draft.op('Add', [draft.op('Multiply', [normal, affine(1)]), affine(2)]);
    });
  };

/** Norms over channels of images. */
export const normalizationOperators: Readonly<Record<string, OnnxOperator>> = {
  BatchNormalization: batchNormalization,
  GroupNormalization: groupNorm(call => call.int('num_groups', 0)),
  InstanceNormalization: groupNorm((_, channels) => channels),
};
