import { broadcastStrides, forEachIndex, offsetOf } from '../../primitive/host/reader.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels, LineKernels } from '../kernels/kernels.ts';
import { createStoreRows } from '../operands/row-store.ts';
import { collapseDimensions } from './collapse-dimensions.ts';
import { createLineProgram, LINE, type LinePlan } from './line-program.ts';

/** Runs a map in f32, some lines at a time, each result rounded to the dtype of the output: a float one. */
export function runMap(
  plan: LinePlan,
  kernels: Kernels,
  lines: LineKernels,
  inputs: readonly Tensor[],
  output: Tensor,
): void {
  kernels.memory.reset();
  const { shape, strides } = collapseDimensions(output.shape, [
    ...inputs.map(input => broadcastStrides(input, output.shape)),
    output.strides,
  ]);
  const last = shape.length - 1;
  const width = shape[last];
  const steps = strides.map(own => own[last]);
  // Short lines are computed several at once.
  const rows = last > 0 ? shape[last - 1] : 1;
  const rowSteps = strides.map(own => (last > 0 ? own[last - 1] : 0));
  const rowsAtOnce = Math.max(1, Math.floor(LINE / width));
  const program = createLineProgram(plan, kernels, lines, inputs);
  const store = createStoreRows(kernels, output, LINE);
  const from = inputs.map(() => 0);
  const [step, rowStep] = [steps[inputs.length], rowSteps[inputs.length]];

  const starts = shape.map((extent, d) => (d < last - 1 ? extent : Math.min(extent, 1)));
  forEachIndex(starts, index => {
    const to = output.offset + offsetOf(index, strides[inputs.length]);
    for (let row = 0; row < rows; row += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, rows - row);
      for (let n = 0; n < width; n += LINE) {
        const length = Math.min(LINE, width - n);
        inputs.forEach(({ offset }, i) => {
          from[i] = offset + offsetOf(index, strides[i]) + row * rowSteps[i] + n * steps[i];
        });
        program.run(count, length, from, steps, rowSteps);
        const at = to + row * rowStep + n * step;
        store(program.at, count, length, length, { at, rowStep, step });
      }
    }
  });
}
