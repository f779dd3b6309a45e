import { broadcastStrides, forEachIndex, offsetOf } from '../../primitive/host/reader.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels, LineKernels } from '../kernels/kernels.ts';
import { createStoredRows } from '../stored-rows.ts';
import { collapseDimensions } from './collapse-dimensions.ts';
import { createLineProgram, LINE, type LinePlan } from './line-program.ts';

/** Runs a map in f32, line by line, each result rounded to the dtype of the output: a float one. */
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
  const program = createLineProgram(plan, kernels, lines, inputs);
  const stored = createStoredRows(kernels, output.dtype, LINE, 1);
  const from = inputs.map(() => 0);
  const { data } = output;

  function store(to: number, step: number, count: number): void {
    const first = stored.convert(program.at, 1);
    const values = stored.values();
    if (step === 1) data.set(values.subarray(first, first + count), to);
    else for (let n = 0; n < count; n++) data[to + n * step] = values[first + n];
  }

  forEachIndex([...shape.slice(0, last), Math.min(width, 1)], index => {
    const to = output.offset + offsetOf(index, strides[inputs.length]);
    for (let n = 0; n < width; n += LINE) {
      const count = Math.min(LINE, width - n);
      inputs.forEach(({ offset }, i) => {
        from[i] = offset + offsetOf(index, strides[i]) + n * steps[i];
      });
      program.run(count, from, steps);
      store(to + n * steps[inputs.length], steps[inputs.length], count);
    }
  });
}
