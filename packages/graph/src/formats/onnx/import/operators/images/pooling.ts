import { keptShape } from '../../../../../ir/tensor/shape.ts';
import { int64Type } from '../../file/element-type.ts';
import { type OnnxOperator, result } from '../../node-call.ts';
import { hostTensor } from '../../value.ts';
import { windowsOf } from './windows.ts';

/**
 * The largest element, or the mean, of the part of each window that is inside the image, one dimension after
 * the other.
 */
const pool =
  (isMax: boolean): OnnxOperator =>
  call => {
    const { type, shape, tensor } = call.input(0);
    const image = shape.slice(2);
    const kernel = call.ints('kernel_shape') ?? [];
    const windows = windowsOf(call, image, kernel);
    const { draft } = call;
    const pooled = [...shape.slice(0, 2), ...windows.map(({ count }) => count)];
    const y = result({ type, shape: pooled }, () =>
      windows.reduce((x, { stride, dilation, before, after, count }, d) => {
        const size = kernel[d];
        const weights: number[] = [];
        // Element i of window n. Elements outside the image repeat the first one inside and share its weight.
        const places = hostTensor([count, size], ([n, i]) => {
          const start = n * stride - before;
          const upTo = (end: number): number =>
            Math.max(0, Math.min(size, Math.ceil((end - start) / dilation)));
          const [first, end] = [upTo(0), upTo(image[d])];
          if (first === end) call.refuse('has a window outside the image');
          const isInside = i >= first && i < end;
          const counted = call.flag('count_include_pad', false) ? upTo(image[d] + after) : end - first;
          const at = isInside ? i : first;
          const repeats = at === first ? 1 + size - (end - first) : 1;
          weights.push(1 / (counted * repeats));
          return start + at * dilation;
        });
        const taken = draft.op('Take', [x, call.constant(places, int64Type)], { axis: d + 2 });
        const axes = { axes: [d + 3] };
        if (isMax) return draft.op('ReduceMax', [taken], axes);
        const factors = { values: weights, shape: [count, size, ...image.slice(d + 1).map(() => 1)] };
        return draft.op('ReduceSum', [draft.op('Multiply', [taken, call.constant(factors, type)])], axes);
      }, tensor()),
    );
    const indices = result({ type: int64Type, shape: pooled }, () =>
      call.refuse('has indices as an output, which are not supported'),
    );
    return isMax ? [y, indices] : y;
  };

/** The largest element, or the mean, of each channel. */
const global =
  (kind: string): OnnxOperator =>
  call => {
    const { type, shape, tensor } = call.input(0);
    const axes = shape.map((_, d) => d).slice(2);
    return result({ type, shape: keptShape(shape, axes) }, () =>
      axes.length > 0 ? call.draft.op(kind, [tensor()], { axes, keep_dims: true }) : tensor(),
    );
  };

/** Pooling of images. */
export const poolingOperators: Readonly<Record<string, OnnxOperator>> = {
  AveragePool: pool(false),
  GlobalAveragePool: global('ReduceMean'),
  GlobalMaxPool: global('ReduceMax'),
  MaxPool: pool(true),
};
