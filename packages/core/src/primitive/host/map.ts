import { copyStrided } from '../../tensor/copy-strided.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { inputName } from '../element.ts';
import type { MapPrimitive } from '../primitive.ts';
import { elementEvaluator } from './element-evaluator.ts';
import { lineWriter } from './line-writer.ts';
import { broadcastStrides, forEachIndex, offsetOf, reader } from './reader.ts';

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
  const rank = shape.length;
  const width = rank === 0 ? 1 : shape[rank - 1];
  const step = rank === 0 ? 0 : strides[rank - 1];
  const line = new Float64Array(width);
  const write = lineWriter(output);
  const outer = rank === 0 ? [] : [...shape.slice(0, -1), Math.min(width, 1)];

  if (copies) {
    const read = reader(source);
    const own = broadcastStrides(source, shape);
    forEachIndex(outer, index => {
      const at = source.offset + offsetOf(index, own);
      for (let n = 0; n < width; n++) line[n] = read(at + n * own[rank - 1]);
      write(line, width, output.offset + offsetOf(index, strides), step);
    });
    return;
  }
  const element = elementEvaluator(value, inputs, shape);
  forEachIndex(outer, index => {
    element.moveTo(index);
    for (let n = 0; n < width; n++) {
      line[n] = element.value();
      if (rank > 0) element.step(rank - 1);
    }
    write(line, width, output.offset + offsetOf(index, strides), step);
  });
}
