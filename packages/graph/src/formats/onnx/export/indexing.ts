import { UnsupportedOperationError } from '../../../errors.ts';
import { describeNode, type GraphNode } from '../../../ir/node.ts';
import { numberOf, numbersOf } from '../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { Translations } from './translation.ts';
import type { OnnxWriter } from './writer.ts';

/** `size` elements from `start` on along an axis; backwards with a negative step. */
function slice(
  write: OnnxWriter,
  src: LogicalTensor,
  dst: LogicalTensor,
  { axis, start, size, step }: Readonly<Record<'axis' | 'start' | 'size' | 'step', number>>,
): void {
  // An end before the first element is far below 0, as −1 would be the last one.
  const end = start + size * step;
  const bounds = [start, end < 0 ? end - 2 ** 31 : end, axis, step].map(n => write.integers([n]));
  write.node('Slice', [write.name(src), ...bounds], {}, write.name(dst));
}

/** A table of a rotary embedding, which broadcasts to (B, H, S, pairs), as ONNX has it: (B, S, pairs). */
function rotaryTable(
  node: GraphNode,
  table: LogicalTensor,
  [B, , S]: readonly number[],
  write: OnnxWriter,
): string {
  const shape = write.shapeOf(table) ?? [];
  const [batch = 1, heads = 1, rows = 1, pairs = 1] = [
    ...new Array<number>(4 - shape.length).fill(1),
    ...shape,
  ];
  if (heads !== 1)
    throw new UnsupportedOperationError(describeNode(node), 'has tables for each head, which ONNX has not');
  const own = write.node('Reshape', [
    write.as(table, node.inputs[0].dtype),
    write.integers([batch, rows, pairs]),
  ]);
  return batch === B && rows === S ? own : write.node('Expand', [own, write.integers([B, S, pairs])]);
}

/** Parts of tensors, and elements by their indices. */
export const indexing: Translations = {
  Slice: ({ inputs: [src], outputs: [dst], attributes: a }, write) => {
    const [axis, start, size, step] = ['axis', 'start', 'size', 'step'].map(name => numberOf(a, name));
    slice(write, src, dst, { axis, start, size, step });
  },
  Split: ({ inputs: [src], outputs, attributes }, write) => {
    let start = 0;
    numbersOf(attributes, 'sizes').forEach((size, n) => {
      slice(write, src, outputs[n], { axis: numberOf(attributes, 'axis'), start, size, step: 1 });
      start += size;
    });
  },
  Concat: ({ inputs, outputs: [dst], attributes }, write) => {
    const axis = { int: numberOf(attributes, 'axis') };
    const names = inputs.map(t => write.name(t));
    write.node('Concat', names, { axis }, write.name(dst));
  },
  Pad: ({ inputs: [src], outputs: [dst], attributes: a }, write) => {
    const counts = write.integers([...numbersOf(a, 'before'), ...numbersOf(a, 'after')]);
    const value = write.numbers([numberOf(a, 'value')], src.dtype);
    write.node('Pad', [write.name(src), counts, value], {}, write.name(dst));
  },
  Expand: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    write.node(
      'Expand',
      [write.name(src), write.integers(numbersOf(attributes, 'shape'))],
      {},
      write.name(dst),
    );
  },
  Take: ({ inputs: [src, indices], outputs: [dst], attributes }, write) => {
    const axis = { int: numberOf(attributes, 'axis') };
    write.node('Gather', [write.name(src), write.as(indices, 'i64')], { axis }, write.name(dst));
  },
  GatherElements: ({ inputs: [src, indices], outputs: [dst], attributes }, write) => {
    const axis = { int: numberOf(attributes, 'axis') };
    write.node('GatherElements', [write.name(src), write.as(indices, 'i64')], { axis }, write.name(dst));
  },
  ScatterElements: ({ inputs: [src, indices, updates], outputs: [dst], attributes }, write) => {
    const options = {
      axis: { int: numberOf(attributes, 'axis') },
      reduction: { string: String(attributes.reduction) },
    };
    const operands = [write.name(src), write.as(indices, 'i64'), write.name(updates)];
    write.node('ScatterElements', operands, options, write.name(dst));
  },
  TensorScatter: ({ inputs: [past, update, first], outputs: [present], attributes }, write) => {
    const operands = [write.name(past), write.name(update), write.as(first, 'i64')];
    write.node(
      'TensorScatter',
      operands,
      { axis: { int: numberOf(attributes, 'axis') } },
      write.name(present),
    );
  },
  RotaryEmbedding: (node, write) => {
    const {
      inputs: [src, cos, sin],
      outputs: [dst],
      attributes,
    } = node;
    const shape = write.shapeOf(src) ?? [];
    const pairs = write.shapeOf(cos)?.at(-1) ?? 0;
    if (shape.length !== 4 || shape.some(n => n < 0))
      throw new UnsupportedOperationError(
        describeNode(node),
        'needs a tensor (B, H, S, D) to be written in ONNX',
      );
    const [c, s] = [cos, sin].map(table => rotaryTable(node, table, shape, write));
    const options = {
      interleaved: { int: attributes.interleaved ? 1 : 0 },
      ...(2 * pairs < shape[3] && { rotary_embedding_dim: { int: 2 * pairs } }),
    };
    const turned = attributes.inverse ? write.node('Neg', [s]) : s;
    write.node('RotaryEmbedding', [write.name(src), c, turned], options, write.name(dst));
  },
  ArgMax: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const options = {
      axis: { int: numberOf(attributes, 'axis') },
      keepdims: { int: attributes.keep_dims ? 1 : 0 },
    };
    write.give(dst, 'i64', 'ArgMax', [write.name(src)], options);
  },
  TopK: ({ inputs: [src], outputs: [values, indices], attributes }, write) => {
    const axis = { int: numberOf(attributes, 'axis') };
    const operands = [write.name(src), write.integers([numberOf(attributes, 'k')])];
    const found = `${write.name(indices)}_i64`;
    write.several('TopK', operands, { axis }, [write.name(values), found]);
    write.cast(found, 'i64', indices.dtype, write.name(indices));
  },
  CumSum: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const options = {
      exclusive: { int: attributes.exclusive ? 1 : 0 },
      reverse: { int: attributes.reverse ? 1 : 0 },
    };
    const axis = write.integers(numberOf(attributes, 'axis'));
    write.node('CumSum', [write.name(src), axis], options, write.name(dst));
  },
  Convolution: ({ inputs, outputs: [dst], attributes: a }, write) => {
    const options = {
      strides: { ints: numbersOf(a, 'strides') },
      dilations: { ints: numbersOf(a, 'dilations') },
      pads: { ints: [...numbersOf(a, 'pads_begin'), ...numbersOf(a, 'pads_end')] },
      group: { int: numberOf(a, 'groups') },
    };
    const names = inputs.map(t => write.name(t));
    write.node('Conv', names, options, write.name(dst));
  },
};
