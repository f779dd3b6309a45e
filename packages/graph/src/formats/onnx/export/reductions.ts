import type { GraphNode } from '../../../ir/node.ts';
import { flagOf, numberOf, numbersOf } from '../../../ir/schema/attribute.ts';
import { LARGEST_F32 } from '../../../ir/tensor/dtype.ts';
import type { OnnxAttribute } from '../model.ts';
import { commonDType, renamed, same, type Translation, type Translations } from './translation.ts';
import type { OnnxWriter } from './writer.ts';

const reduction: Translation = ({ kind, inputs: [src], outputs: [dst], attributes }, write) => {
  const axes = write.integers(numbersOf(attributes, 'axes'));
  write.node(kind, [write.name(src), axes], renamed(attributes, { keepdims: 'keep_dims' }), write.name(dst));
};

/** Reductions that have the same names in ONNX. */
const namesOfReductions = ['L1', 'L2', 'Max', 'Mean', 'Min', 'Prod', 'Sum'].map(name => `Reduce${name}`);

/** Products, reductions, softmax, norms and cross-entropy. */
export const reductions: Translations = {
  ...Object.fromEntries(namesOfReductions.map(kind => [kind, reduction])),
  MatMul: (node, write) => {
    const { inputs, outputs, attributes } = node;
    const [src, weights, bias] = inputs;
    const [dst] = outputs;
    const dtype = commonDType(...inputs, dst);
    const isTransposed = flagOf(attributes, 'transpose_a');
    // srcᵀ·vector is vector·src. onnxruntime 1.30 fuses the transpose and then gives wrong numbers.
    const operands =
      isTransposed && write.rankOf(weights) === 1
        ? [weights, src].map(t => write.as(t, dtype))
        : [
            matrix(node, 0, isTransposed, dtype, write),
            matrix(node, 1, flagOf(attributes, 'transpose_b'), dtype, write),
          ];
    if (!bias) write.give(dst, dtype, 'MatMul', operands);
    else write.give(dst, dtype, 'Add', [write.node('MatMul', operands), write.as(bias, dtype)]);
  },
  SoftMax: (node, write) => {
    const [src] = node.inputs;
    const [dst, stats] = node.outputs;
    const axis = numberOf(node.attributes, 'axis');
    if (!stats && node.attributes.mode === 'none') {
      const dtype = commonDType(src, dst);
      write.give(dst, dtype, 'Softmax', [write.as(src, dtype)], { axis: { int: axis } });
    } else softmaxWithStats(node, axis, write);
  },
  LogSoftmax: same('LogSoftmax', { axis: 'axis' }),
  LayerNorm: (node, write) => {
    const [src, , beta] = node.inputs;
    const [dst, mean, variance] = node.outputs;
    const affine = [scaleOf(node, write), ...(beta ? [write.as(beta, src.dtype)] : [])];
    write.node('LayerNormalization', [write.name(src), ...affine], normAttributes(node), write.name(dst));
    if (!mean || !variance) return;
    const axes = write.integers(normalisedAxes(node, write));
    const x = write.as(src, 'f32');
    const average = write.node('ReduceMean', [x, axes], { keepdims: { int: 1 } });
    const distance = write.node('Sub', [x, average]);
    const squares = write.node('Mul', [distance, distance]);
    write.give(mean, 'f32', 'Squeeze', [average, axes]);
    write.give(variance, 'f32', 'ReduceMean', [squares, axes], { keepdims: { int: 0 } });
  },
  RMSNorm: (node, write) => {
    const operands = [write.name(node.inputs[0]), scaleOf(node, write)];
    write.node('RMSNormalization', operands, normAttributes(node), write.name(node.outputs[0]));
  },
  CrossEntropy: ({ inputs: [logits, labels], outputs: [loss], attributes }, write) => {
    const axis = { int: -1 };
    const logarithms = write.node('LogSoftmax', [write.as(logits, 'f32')], { axis });
    const last = write.integers([-1]);
    const classes = write.node('Gather', [write.node('Shape', [logarithms]), write.integers(-1)]);
    const label = write.as(labels, 'i64');
    const { index, isInside } = write.within(label, classes);
    const at = write.node('Unsqueeze', [index, last]);
    const found = write.node('GatherElements', [logarithms, at], { axis });
    const ofClass = write.node('Neg', [write.node('Squeeze', [found, last])]);
    const smoothing = numberOf(attributes, 'label_smoothing');
    const mean = write.node('ReduceMean', [logarithms, last], { keepdims: { int: 0 } });
    const part = (loss: string, weight: number): string => write.node('Mul', [loss, write.numbers([weight])]);
    const parts = [part(ofClass, 1 - smoothing), part(write.node('Neg', [mean]), smoothing)];
    const smooth = smoothing === 0 ? ofClass : write.node('Add', parts);
    const checked = write.node('Where', [isInside, smooth, write.numbers([NaN])]);
    const isIgnored = write.node('Equal', [label, write.integers(numberOf(attributes, 'ignore_index'))]);
    write.give(loss, 'f32', 'Where', [isIgnored, write.numbers([0]), checked]);
  },
};

/** An operand of a product, transposed if the attribute says so; a vector is never transposed. */
function matrix(
  node: GraphNode,
  n: 0 | 1,
  swap: boolean,
  dtype: GraphNode['inputs'][number]['dtype'],
  write: OnnxWriter,
): string {
  const tensor = node.inputs[n];
  const own = write.as(tensor, dtype);
  const rank = swap ? write.rankOf(tensor) : 1;
  if (rank < 2) return own;
  const perm = Array.from({ length: rank }, (_, d) => d);
  perm.push(...perm.splice(-2).reverse());
  return write.node('Transpose', [own], { perm: { ints: perm } });
}

/** Softmax as maximum, exponential and sum; rows of −∞ become 0 if the mode says so. */
function softmaxWithStats(
  { inputs: [src], outputs: [dst, stats], attributes }: GraphNode,
  axis: number,
  write: OnnxWriter,
): void {
  const axes = write.integers([axis]);
  const x = write.as(src, 'f32');
  const zeroes = attributes.mode === 'inf_as_zero';
  const largest = write.node('ReduceMax', [x, axes]);
  const max = zeroes ? write.node('Max', [largest, write.numbers([-LARGEST_F32])]) : largest;
  const e = write.node('Exp', [write.node('Sub', [x, max])]);
  const sum = write.node('ReduceSum', [e, axes]);
  const dead = zeroes ? write.node('Equal', [sum, write.numbers([0])]) : null;
  const divisor = dead ? write.node('Where', [dead, write.numbers([1]), sum]) : sum;
  write.give(dst, 'f32', 'Div', [e, divisor]);
  if (!stats) return;
  const lse = [max, write.node('Log', [sum])];
  if (dead) write.give(stats, 'f32', 'Where', [dead, write.numbers([0]), write.node('Add', lse)]);
  else write.give(stats, 'f32', 'Add', lse);
}

/** The attributes of a norm in ONNX: its first axis, and the epsilon added to the variance. */
const normAttributes = ({ attributes }: GraphNode): Record<string, OnnxAttribute> => ({
  axis: { int: numberOf(attributes, 'begin_norm_axis') },
  epsilon: { float: numberOf(attributes, 'epsilon') },
});

/** The dimensions that a norm normalises. */
function normalisedAxes(node: GraphNode, write: OnnxWriter): number[] {
  const [src] = node.inputs;
  const rank = write.rankOf(src);
  const begin = numberOf(node.attributes, 'begin_norm_axis');
  const first = begin < 0 ? begin + rank : begin;
  return Array.from({ length: rank - first }, (_, d) => first + d);
}

/** gamma, or ones in the normalised shape, because ONNX requires a scale. */
function scaleOf(node: GraphNode, write: OnnxWriter): string {
  const [src, gamma] = node.inputs;
  if (gamma) return write.as(gamma, src.dtype);
  const start = renamed(node.attributes, { start: 'begin_norm_axis' });
  const shape = write.node('Shape', [write.name(src)], start);
  return write.node('Expand', [write.numbers([1], src.dtype), shape]);
}
