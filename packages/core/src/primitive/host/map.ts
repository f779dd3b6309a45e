import { copyStrided } from '../../tensor/copy-strided.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { inputName } from '../element.ts';
import type { MapPrimitive } from '../primitive.ts';
import { lineEvaluator } from './lines/line-evaluator.ts';
import { lineWriter } from './lines/line-writer.ts';
import { broadcastStrides, forEachIndex, offsetOf } from './lines/reader.ts';

/** Runs a map on host tensors, in f64, each result rounded once. */
export function runMap({ value }: MapPrimitive, inputs: readonly Tensor[], output: Tensor): void {
  const { shape, strides } = output;
  const [source] = inputs;
  const copies = value.kind === 'load' && value.name === inputName(0) && value.index.length === 0;
  if (copies && source.dtype === output.dtype) {
    const { data, offset } = source;
    copyStrided(shape, { data, offset, strides: broadcastStrides(source, shape) }, output);
    return;
  }
  const last = shape.length - 1;
  const width = shape[last] ?? 1;
  const line = lineEvaluator(value, inputs, shape, last, width);
  const write = lineWriter(output);
  const starts = shape.map((n, d) => (d === last ? Math.min(n, 1) : n));
  forEachIndex(starts, index => {
    write(line(index), width, output.offset + offsetOf(index, strides), strides[last] ?? 0);
  });
}
