import { div, exp, sub } from '../../expr/index.ts';
import { keptShape } from '../../primitive/check.ts';
import { input } from '../../primitive/element.ts';
import { broadcastStrides, forEachIndex, offsetOf } from '../../primitive/host/lines/reader.ts';
import type { SoftmaxPrimitive } from '../../primitive/primitive.ts';
import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import { contiguousStrides, elementCount } from '../../tensor/shape.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import { linkedLoops } from '../loops/compiled-loop.ts';
import { formatOf } from '../loops/format.ts';
import { type LoopInput, type LoopOutput, planLoop } from '../loops/plan/plan-loop.ts';
import { runLoop } from '../loops/run/run-loop.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import type { RunOnKernels } from './run-on-kernels.ts';

/**
 * Prepares a softmax or its logarithm as three loops over all lines: for the largest element m of each line,
 * for l = Σ e^(x − m) in f64, and for e^(x − m) / l or x − (m + ln l). Null if only the host can run it.
 */
export function prepareSoftmax(
  { axis, log, mode }: SoftmaxPrimitive,
  [{ dtype, shape: domain, strides }]: readonly TensorDesc[],
  [result]: readonly TensorDesc[],
): RunOnKernels | null {
  const format = formatOf(result.dtype);
  const kept = keptShape({ domain, axes: [axis] });
  const source: LoopInput = { name: 'x0', format: formatOf(dtype), shape: domain, strides };
  const perLine = { shape: kept, strides: contiguousStrides(kept) };
  const ofLine = (name: string, of: 'f32' | 'f64' = 'f32'): LoopInput => ({ name, format: of, ...perLine });
  const toLine = (kind: 'max' | 'sum', of: 'f32' | 'f64'): LoopOutput => ({
    ...{ kind, format: of, strides: broadcastStrides(perLine, domain) },
  });
  if (!format) return null;
  const lifted = exp(sub(input(0), input(1)));
  const plans = [
    planLoop(input(0), [source], domain, toLine('max', 'f32')),
    planLoop(lifted, [source, ofLine('x1')], domain, toLine('sum', 'f64')),
    planLoop(
      log ? sub(input(0), input(1)) : div(lifted, input(2)),
      [source, ofLine('x1'), ofLine('x2', 'f64')],
      domain,
      { kind: 'store', format, strides: result.strides },
    ),
  ].flatMap(plan => plan ?? []);
  if (plans.length < 3) return null;
  const count = elementCount(kept);

  const link = linkedLoops(plans);
  return (kernels, [from], [to, stats], team) => {
    const { memory } = kernels;
    const compiled = link(kernels.loops);
    if (!compiled) return false;
    memory.reset();
    const [largest, sums] = [memory.floats(count), memory.allocate(Float64Array, count)];
    const totals = memory.floats(count);
    const [at, output] = [readable(memory, from), writable(memory, to)];
    largest.values.fill(-Infinity);
    for (const [n, loop] of compiled.entries()) {
      const values = n === 2 && log ? totals.at : largest.at;
      runLoop(plans[n], loop, kernels, [largest.at, sums.at, output][n], [at, values, sums.at], team);
      if (n !== 1) continue;
      const [m, l, lse] = [largest.values, sums.values, totals.values];
      for (let row = 0; row < count; row++) lse[row] = m[row] + Math.log(l[row]);
    }
    copyBack(memory, to, output);
    finishLines(largest.values, totals.values, to, stats);
    return true;
  };

  /** Writes the results of lines of −∞, and m + ln l if requested. */
  function finishLines(
    largest: Float32Array,
    totals: Float32Array,
    to: Tensor,
    stats: Tensor | undefined,
  ): void {
    const hasDead = mode === 'inf-as-zero' && largest.includes(-Infinity);
    if (!hasDead && !stats) return;
    const [width, step] = [to.shape[axis], to.strides[axis]];
    const encodeStats = stats && dtypeInfo[stats.dtype].encode;
    let row = 0;
    forEachIndex(
      kept.map((extent, d) => (d === axis ? Math.min(extent, domain[d]) : extent)),
      index => {
        const isDead = hasDead && largest[row] === -Infinity;
        const at = to.offset + offsetOf(index, to.strides);
        if (isDead) for (let n = 0; n < width; n++) to.data[at + n * step] = 0;
        if (encodeStats) {
          stats.data[stats.offset + offsetOf(index, stats.strides)] = encodeStats(isDead ? 0 : totals[row]);
        }
        row++;
      },
    );
  }
}
