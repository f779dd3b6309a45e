import type { Tensor } from '../../tensor/tensor.ts';
import type { TensorScatterPrimitive } from '../primitive.ts';
import { forEachIndex, offsetOf } from './lines/reader.ts';

/** Writes a part of a host tensor, copying bits unchanged. */
export function runTensorScatter(
  { axis }: TensorScatterPrimitive,
  [update, first]: readonly Tensor[],
  output: Tensor,
): void {
  const { shape, strides, data: from } = update;
  const to = output.data;
  const last = shape.length - 1;
  const [step, toStep] = [strides[last], output.strides[last]];
  forEachIndex(shape.slice(0, last), index => {
    const begin = first.data[first.offset + index[0] * first.strides[0]];
    const source = update.offset + offsetOf(index, strides);
    const moved = begin * output.strides[axis];
    const target = output.offset + offsetOf(index, output.strides) + moved;
    const along = axis === last ? begin : begin + index[axis];
    if (axis !== last && (along < 0 || along >= output.shape[axis])) return;
    for (let d = 0; d < shape[last]; d++) {
      if (axis === last && (along + d < 0 || along + d >= output.shape[last])) continue;
      to[target + d * toStep] = from[source + d * step];
    }
  });
}
