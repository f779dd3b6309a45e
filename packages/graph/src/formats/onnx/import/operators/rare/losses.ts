import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';

/**
 * −weight · log p of each label, reduced as the attribute `reduction` says. The mean is the weighted mean.
 * Labels of `ignore_index` have a weight of 0.
 * @param logP the logarithms of the probabilities (B, C, …).
 */
function lossOf(call: NodeCall, logP: LogicalTensor): LogicalTensor {
  const { draft } = call;
  const { shape } = call.input(1);
  const labels = call.input(1).tensor();
  const scalar = (value: number): LogicalTensor => draft.scalar(value, logP.dtype);
  const ignored = call.attribute('ignore_index', 'int');
  const isIgnored = ignored === undefined ? null : draft.test('Equal', labels, draft.scalar(ignored, 'i32'));
  const safe = isIgnored ? draft.select(isIgnored, draft.scalar(0, 'i32'), labels) : labels;
  const places = draft.reshape(safe, [shape[0] ?? 1, 1, ...shape.slice(1)]);
  const own = draft.reshape(draft.op('GatherElements', [logP, places], { axis: 1 }), shape);
  const given = call.optional(2);
  const taken = given
    ? draft.op('Take', [given.tensor(), safe], { axis: 0 })
    : draft.inline([1], shape, logP.dtype);
  const weights = isIgnored ? draft.select(isIgnored, draft.expand(scalar(0), shape), taken) : taken;
  const losses = draft.op('Neg', [draft.op('Multiply', [own, weights])]);
  const reduction = call.text('reduction', 'mean');
  if (reduction === 'none') return losses;
  const sum = (of: LogicalTensor): LogicalTensor =>
    draft.op('ReduceSum', [of], { axes: shape.map((_, d) => d), keep_dims: false });
  if (reduction === 'sum') return sum(losses);
  if (reduction !== 'mean') call.fail(`has the reduction '${reduction}'`);
  return draft.op('Divide', [sum(losses), sum(weights)]);
}

const lossShape = (call: NodeCall): readonly number[] =>
  call.text('reduction', 'mean') === 'none' ? call.shape(1) : [];

/** The loss of labels, from logarithms of probabilities. */
export const likelihoodLoss: OnnxOperator = call => {
  const { type, tensor } = call.input(0);
  return result({ type, shape: lossShape(call) }, () => lossOf(call, tensor()));
};

/** The loss of labels, from logits (B, C, …). The second result is the logarithms of the probabilities. */
export const crossEntropyLoss: OnnxOperator = call => {
  const x = call.input(0);
  const logP = (): LogicalTensor => call.draft.op('LogSoftmax', [x.tensor()], { axis: 1 });
  return [result({ type: x.type, shape: lossShape(call) }, () => lossOf(call, logP())), result(x, logP)];
};
