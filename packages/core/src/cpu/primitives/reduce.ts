import { broadcastStrides } from '../../primitive/host/lines/reader.ts';
import type { ReducePrimitive } from '../../primitive/primitive.ts';
import { contiguousStrides, elementCount } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { compiledLoop } from '../loops/compiled-loop.ts';
import { formatOf } from '../loops/format.ts';
import { type LoopInput, type LoopOutput, loopInputs, planLoop } from '../loops/plan/plan-loop.ts';
import { runLoop } from '../loops/run/run-loop.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import type { RunOnKernels } from './run-on-kernels.ts';

/** The value that a reduction starts from. */
const starts = { sum: 0, max: -Infinity, min: Infinity } as const;

/**
 * How a reduction runs: its elements in f32 and their sums in f64, in one loop, and in another what becomes
 * of them, each result rounded to f32 and to the dtype of the output. Null for the host's.
 */
export function prepareReduce(
  { op, axes, domain, element, result }: ReducePrimitive,
  inputs: readonly TensorDesc[],
  output: TensorDesc,
): RunOnKernels | null {
  const format = formatOf(output.dtype);
  if (op === 'prod' || !format) return null;
  const kept = domain.map((extent, d) => (axes.includes(d) ? 1 : extent));
  const reduced: LoopInput = {
    name: 'reduced',
    format: op === 'sum' ? 'f64' : 'f32',
    shape: kept,
    strides: contiguousStrides(kept),
  };
  const sums: LoopOutput = {
    kind: op,
    format: op === 'sum' ? 'f64' : 'f32',
    strides: broadcastStrides(reduced, domain),
  };
  const adding = planLoop(element, loopInputs(inputs), domain, sums);
  const to: LoopOutput = { kind: 'store', format, strides: output.strides };
  const finishing = planLoop(result, [reduced], kept, to);
  if (!adding || !finishing) return null;
  const count = elementCount(kept);
  return (kernels, from, [target], team) => {
    const { memory, loops } = kernels;
    const add = loops && compiledLoop(adding.spec, adding.key, loops);
    const finish = loops && compiledLoop(finishing.spec, finishing.key, loops);
    if (!add || !finish) return false;
    memory.reset();
    const sums = op === 'sum' ? memory.allocate(Float64Array, count) : memory.floats(count);
    if (op !== 'sum') sums.values.fill(starts[op]);
    const { at } = sums;
    const sources = from.map(tensor => readable(memory, tensor));
    const result = writable(memory, target);
    runLoop(adding, add, kernels, at, sources, team);
    runLoop(finishing, finish, kernels, result, [at], team);
    copyBack(memory, target, result);
    return true;
  };
}
