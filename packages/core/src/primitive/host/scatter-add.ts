import type { Tensor } from '../../tensor/tensor.ts';
import { lineWriter } from './lines/line-writer.ts';
import { reader } from './lines/reader.ts';

/** Runs a scatter-add on host tensors: each row summed in f64 and rounded once. */
export function runScatterAdd([indices, updates]: readonly Tensor[], output: Tensor): void {
  const [rows, width] = output.shape;
  const sums = new Float64Array(rows * width);
  const readIndex = reader(indices);
  // Gradients of embeddings are large and f32: direct reads take a third of the time of calls.
  const floats = updates.data instanceof Float32Array ? updates.data : null;
  const read = reader(updates);
  for (let n = 0; n < indices.shape[0]; n++) {
    const row = readIndex(indices.offset + n * indices.strides[0]);
    if (row < 0 || row >= rows) continue;
    const from = updates.offset + n * updates.strides[0];
    const step = updates.strides[1];
    const to = row * width;
    if (floats) for (let d = 0; d < width; d++) sums[to + d] += floats[from + d * step];
    else for (let d = 0; d < width; d++) sums[to + d] += read(from + d * step);
  }
  const write = lineWriter(output);
  for (let row = 0; row < rows; row++) {
    const line = sums.subarray(row * width, (row + 1) * width);
    write(line, width, output.offset + row * output.strides[0], output.strides[1]);
  }
}
