import { keptShape } from '../../primitive/check.ts';
import { broadcastStrides } from '../../primitive/host/lines/reader.ts';
import type { ReducePrimitive } from '../../primitive/primitive.ts';
import { contiguousStrides, elementCount } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { linkedLoops } from '../loops/compiled-loop.ts';
import { formatOf } from '../loops/format.ts';
import { loopInputs, planLoop } from '../loops/plan/plan-loop.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import { bitsOf, fillStep } from '../steps/fill-step.ts';
import type { KernelPrimitive } from './kernel-primitive.ts';
import { loopStep } from './loops/loop-step.ts';
import { runLoop } from './loops/run-loop.ts';

/** The value that a reduction starts from. */
const starts = { sum: 0, max: -Infinity, min: Infinity } as const;

/**
 * Prepares a reduction: one loop computes its elements in f32 and their sums in f64, and another computes
 * `result`, rounded to f32 and to the output's dtype. Null if only the host can run it.
 */
export function prepareReduce(
  { op, axes, domain, element, result }: ReducePrimitive,
  inputs: readonly TensorDesc[],
  output: TensorDesc,
): KernelPrimitive | null {
  const format = formatOf(output.dtype);
  if (op === 'prod' || !format) return null;
  const kept = keptShape({ domain, axes });
  const sumFormat = op === 'sum' ? 'f64' : 'f32';
  const reduced = {
    name: 'reduced',
    format: sumFormat,
    shape: kept,
    strides: contiguousStrides(kept),
  } as const;
  const sums = { kind: op, format: sumFormat, strides: broadcastStrides(reduced, domain) } as const;
  const adding = planLoop(element, loopInputs(inputs), domain, sums);
  const finishing = planLoop(result, [reduced], kept, { kind: 'store', format, strides: output.strides });
  if (!adding || !finishing) return null;
  const count = elementCount(kept);
  const link = linkedLoops([adding, finishing]);
  const sources = inputs.map(() => 0);
  return {
    run(kernels, from, [target], team) {
      const { memory } = kernels;
      const loops = link(kernels.loops);
      if (!loops) return false;
      const [add, finish] = loops;
      memory.reset();
      const sums = op === 'sum' ? memory.allocate(Float64Array, count) : memory.floats(count);
      if (op !== 'sum') sums.values.fill(starts[op]);
      const { at } = sums;
      for (let n = 0; n < sources.length; n++) sources[n] = readable(memory, from[n]);
      const result = writable(memory, target);
      runLoop(adding, add, kernels, at, sources, team);
      runLoop(finishing, finish, kernels, result, [at], team);
      copyBack(memory, target, result);
      return true;
    },
    steps(kernels, from, [target]) {
      const { memory } = kernels;
      const { at } = op === 'sum' ? memory.allocate(Float64Array, count) : memory.scratch(count);
      const inputs = from.map(tensor => readable(memory, tensor));
      return [
        op === 'sum' ? fillStep(0, at, 2 * count) : fillStep(bitsOf(starts[op]), at, count),
        loopStep(adding, kernels, at, inputs),
        loopStep(finishing, kernels, writable(memory, target), [at]),
      ];
    },
  };
}
