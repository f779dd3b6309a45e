import { forEachIndex, offsetOf } from '../../primitive/host/reader.ts';
import type { SoftmaxPrimitive } from '../../primitive/primitive.ts';
import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';
import { createLoadLine } from '../operands/load-line.ts';
import { createStoreRows } from '../operands/row-store.ts';

/** Runs a softmax or its logarithm in f32, by the kernel of attention, its statistics in f64. */
export function runSoftmax(
  { axis, log, mode }: SoftmaxPrimitive,
  kernels: Kernels,
  [source]: readonly Tensor[],
  [output, stats]: readonly Tensor[],
): void {
  const { memory } = kernels;
  memory.reset();
  const width = source.shape[axis];
  const [step, outStep] = [source.strides[axis], output.strides[axis]];
  const ld = 4 * padded(width);
  const line = memory.floats(padded(width) + 8);
  const largest = memory.floats(1);
  const sum = memory.allocate(Float64Array, 1);
  const load = createLoadLine(kernels, source, width);
  const store = createStoreRows(kernels, output, padded(width));
  const encodeStats = stats && dtypeInfo[stats.dtype].encode;

  /** Replaces the line by its softmax, and gives max + ln Σ e^(x − max); −∞ for a line of nothing else. */
  function normalise(from: number): number {
    load(from, step, width, line.at);
    largest.values[0] = -Infinity;
    sum.values[0] = 0;
    kernels.updateSoftmax(1, width, line.at, ld, largest.at, sum.at, 0, 0, 0, 0, 0);
    const total = largest.values[0] + Math.log(sum.values[0]);
    if (log) {
      load(from, step, width, line.at);
      const { values } = line;
      for (let n = 0; n < width; n++) values[n] -= total;
    } else kernels.divideRows(1, padded(width), line.at, ld, sum.at);
    return total;
  }

  forEachIndex(
    source.shape.map((n, d) => (d === axis ? Math.min(n, 1) : n)),
    index => {
      const total = normalise(source.offset + offsetOf(index, source.strides));
      const isDead = total === -Infinity;
      if (isDead) line.values.fill(mode === 'inf-as-zero' ? 0 : Number.NaN);
      const at = output.offset + offsetOf(index, output.strides);
      store(line.at, 1, width, width, { at, rowStep: 0, step: outStep });
      if (encodeStats) {
        const at = stats.offset + offsetOf(index, stats.strides);
        stats.data[at] = encodeStats(isDead ? (mode === 'inf-as-zero' ? 0 : Number.NaN) : total);
      }
    },
  );
}
