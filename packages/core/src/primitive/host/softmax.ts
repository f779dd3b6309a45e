import type { Tensor } from '../../tensor/tensor.ts';
import type { SoftmaxPrimitive } from '../primitive.ts';
import { lineWriter } from './lines/line-writer.ts';
import { forEachIndex, offsetOf, reader } from './lines/reader.ts';

/** Runs a softmax on host tensors, in f64, each result rounded once. */
export function runSoftmax(
  { axis, log, mode }: SoftmaxPrimitive,
  [source]: readonly Tensor[],
  [output, stats]: readonly Tensor[],
): void {
  const read = reader(source);
  const write = lineWriter(output);
  const width = source.shape[axis];
  // A line without elements still has stats.
  const line = new Float64Array(Math.max(width, 1));
  const step = source.strides[axis];
  const writeStats = stats && lineWriter(stats);
  const rows = source.shape.map((n, d) => (d === axis ? 1 : n));

  forEachIndex(rows, index => {
    const at = source.offset + offsetOf(index, source.strides);
    let max = -Infinity;
    for (let n = 0; n < width; n++) {
      line[n] = read(at + n * step);
      if (line[n] > max || Number.isNaN(line[n])) max = line[n];
    }
    const isMasked = max === -Infinity && mode === 'inf-as-zero';
    let sum = 0;
    for (let n = 0; n < width; n++) {
      line[n] -= max;
      const e = Math.exp(line[n]);
      sum += e;
      if (!log) line[n] = e;
    }
    const logSum = Math.log(sum);
    for (let n = 0; n < width; n++) line[n] = log ? line[n] - logSum : line[n] / sum;
    if (isMasked) line.fill(0);
    write(line, width, output.offset + offsetOf(index, output.strides), output.strides[axis]);
    if (writeStats) {
      line[0] = isMasked ? 0 : max + logSum;
      writeStats(line, 1, stats.offset + offsetOf(index, stats.strides), 1);
    }
  });
}
