import { numberOf, numbersOf } from '../../../ir/schema/attribute.ts';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { renamed, same, type Translations } from './translation.ts';
import type { OnnxWriter } from './writer.ts';

/** Takes `size` elements from `start` along an axis; backwards with a negative step. */
function slice(
  write: OnnxWriter,
  src: LogicalTensor,
  dst: LogicalTensor,
  { axis, start, size, step }: Readonly<Record<'axis' | 'start' | 'size' | 'step', number>>,
): void {
  // An end before the first element must be far below 0, because −1 would mean the last element.
  const end = start + size * step;
  const bounds = [start, end < 0 ? end - 2 ** 31 : end, axis, step].map(n => write.integers([n]));
  write.node('Slice', [write.name(src), ...bounds], {}, write.name(dst));
}

/**
 * Converts a table of a rotary embedding, which broadcasts to (B, H, S, pairs), to ONNX's form (B, S, pairs).
 */
function rotaryTable(
  table: LogicalTensor,
  dtype: GraphDType,
  [B, , S]: readonly number[],
  write: OnnxWriter,
): string {
  const shape = write.shapeOf(table) ?? [];
  const [batch, heads, rows, pairs] = [...new Array<number>(4 - shape.length).fill(1), ...shape];
  if (heads !== 1) write.refuse('has a table for each head, which ONNX does not support');
  const own = write.node('Reshape', [write.as(table, dtype), write.integers([batch, rows, pairs])]);
  return batch === B && rows === S ? own : write.node('Expand', [own, write.integers([B, S, pairs])]);
}

/** Operations on parts of tensors, and on elements by index. */
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
  Concat: same('Concat', { axis: 'axis' }),
  Pad: ({ inputs: [src], outputs: [dst], attributes: a }, write) => {
    const counts = write.integers([...numbersOf(a, 'before'), ...numbersOf(a, 'after')]);
    const value = write.numbers([numberOf(a, 'value')], src.dtype);
    write.node('Pad', [write.name(src), counts, value], {}, write.name(dst));
  },
  Expand: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const shape = write.integers(numbersOf(attributes, 'shape'));
    write.node('Expand', [write.name(src), shape], {}, write.name(dst));
  },
  Take: same('Gather', { axis: 'axis' }, 1),
  GatherElements: same('GatherElements', { axis: 'axis' }, 1),
  ScatterElements: same('ScatterElements', { axis: 'axis', reduction: 'reduction' }, 1),
  TensorScatter: same('TensorScatter', { axis: 'axis' }, 2),
  RotaryEmbedding: ({ inputs: [src, cos, sin], outputs: [dst], attributes }, write) => {
    const shape = write.shapeOf(src) ?? [];
    const pairs = write.shapeOf(cos)?.at(-1) ?? 0;
    if (shape.length !== 4 || shape.some(n => n < 0))
      write.refuse('can be exported to ONNX only for a tensor (B, H, S, D)');
    const [c, s] = [cos, sin].map(table => rotaryTable(table, src.dtype, shape, write));
    const options = {
      ...renamed(attributes, { interleaved: 'interleaved' }),
      ...(2 * pairs < shape[3] && { rotary_embedding_dim: { int: 2 * pairs } }),
    };
    const signedSin = attributes.inverse ? write.node('Neg', [s]) : s;
    write.node('RotaryEmbedding', [write.name(src), c, signedSin], options, write.name(dst));
  },
  ArgMax: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const options = renamed(attributes, { axis: 'axis', keepdims: 'keep_dims' });
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
    const options = renamed(attributes, { exclusive: 'exclusive', reverse: 'reverse' });
    const axis = write.integers(numberOf(attributes, 'axis'));
    write.node('CumSum', [write.name(src), axis], options, write.name(dst));
  },
  Convolution: ({ inputs, outputs: [dst], attributes: a }, write) => {
    const options = {
      ...renamed(a, { strides: 'strides', dilations: 'dilations', group: 'groups' }),
      pads: { ints: [...numbersOf(a, 'pads_begin'), ...numbersOf(a, 'pads_end')] },
    };
    const names = inputs.map(t => write.name(t));
    write.node('Conv', names, options, write.name(dst));
  },
};
