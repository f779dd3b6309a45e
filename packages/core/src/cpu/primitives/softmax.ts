import { add, div, exp, log as ln, sub } from '../../expr/index.ts';
import { keptShape } from '../../primitive/check.ts';
import { input } from '../../primitive/element.ts';
import { broadcastStrides, forEachIndex, offsetOf } from '../../primitive/host/lines/reader.ts';
import type { SoftmaxPrimitive } from '../../primitive/primitive.ts';
import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import { contiguousStrides, elementCount, type Shape } from '../../tensor/shape.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import { linkedLoops } from '../loops/compiled-loop.ts';
import { formatOf } from '../loops/format.ts';
import { type LoopInput, type LoopOutput, type LoopPlan, planLoop } from '../loops/plan/plan-loop.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import { bitsOf, fillStep } from '../steps/fill-step.ts';
import type { KernelPrimitive } from './kernel-primitive.ts';
import { loopStep } from './loops/loop-step.ts';
import { runLoop } from './loops/run-loop.ts';

/** The addresses of x and y, and of the numbers m, l, and ln l or m + ln l of all lines. */
interface Addresses {
  readonly x: number;
  readonly y: number;
  readonly m: number;
  readonly l: number;
  readonly lse: number;
}

/**
 * Prepares a softmax or its logarithm as loops over all lines: for the largest element m of each line, for
 * l = Σ e^(x − m) in f64, for ln l or m + ln l, and for e^(x − m) / l or (x − m) − ln l: m + ln l would be
 * rounded to the size of m, and results near 0 would lose their digits. Null if only the host can run it.
 */
export function prepareSoftmax(
  primitive: SoftmaxPrimitive,
  [source]: readonly TensorDesc[],
  [result, ...statistics]: readonly TensorDesc[],
): KernelPrimitive | null {
  const { axis, log, mode } = primitive;
  const kept = keptShape({ domain: source.shape, axes: [axis] });
  const plans = planLoops(log, source, result, kept);
  if (!plans) return null;
  const count = elementCount(kept);
  const link = linkedLoops(plans);
  const hasStatistics = statistics.length > 0;

  /** The loops to run: the index of the loop, and the addresses of its output and inputs. */
  function loopsOn({
    x,
    y,
    m,
    l,
    lse,
  }: Addresses): readonly (readonly [n: number, output: number, inputs: readonly number[]])[] {
    return [
      [0, m, [x]],
      [1, l, [x, m]],
      ...(log || hasStatistics ? [[2, lse, [m, l]] as const] : []),
      [3, y, [x, m, log ? lse : l]],
    ];
  }

  return {
    run(kernels, [from], [to, stats], team) {
      const { memory } = kernels;
      const loops = link(kernels.loops);
      if (!loops) return false;
      memory.reset();
      const [m, l, lse] = [memory.floats(count), memory.allocate(Float64Array, count), memory.floats(count)];
      const [x, y] = [readable(memory, from), writable(memory, to)];
      m.values.fill(-Infinity);
      for (const [n, output, inputs] of loopsOn({ x, y, m: m.at, l: l.at, lse: lse.at }))
        runLoop(plans[n], loops[n], kernels, output, inputs, team);
      copyBack(memory, to, y);
      finishLines(primitive, { kept, largest: m.values, totals: lse.values }, to, stats);
      return true;
    },
    steps(kernels, [from], [to]) {
      if (mode === 'inf-as-zero' || hasStatistics) return null;
      const { memory } = kernels;
      const m = memory.scratch(count).at;
      const l = memory.allocate(Float64Array, count).at;
      const lse = memory.scratch(count).at;
      const loops = loopsOn({ x: readable(memory, from), y: writable(memory, to), m, l, lse });
      return [
        fillStep(bitsOf(-Infinity), m, count),
        fillStep(0, l, 2 * count),
        ...loops.map(([n, output, inputs]) => loopStep(plans[n], kernels, output, inputs)),
      ];
    },
  };
}

/** The four loops of a softmax; null if only the host can run one of them. */
function planLoops(
  log: boolean,
  { dtype, shape: domain, strides }: TensorDesc,
  result: TensorDesc,
  kept: Shape,
): readonly LoopPlan[] | null {
  const format = formatOf(result.dtype);
  if (!format) return null;
  const source: LoopInput = { name: 'x0', format: formatOf(dtype), shape: domain, strides };
  const perLine = { shape: kept, strides: contiguousStrides(kept) };
  const ofLine = (name: string, format: 'f32' | 'f64' = 'f32'): LoopInput => ({ name, format, ...perLine });
  const toLine = (kind: 'max' | 'sum', format: 'f32' | 'f64'): LoopOutput => ({
    ...{ kind, format, strides: broadcastStrides(perLine, domain) },
  });
  const lifted = exp(sub(input(0), input(1)));
  const planned = [
    planLoop(input(0), [source], domain, toLine('max', 'f32')),
    planLoop(lifted, [source, ofLine('x1')], domain, toLine('sum', 'f64')),
    planLoop(log ? ln(input(2)) : add(input(1), ln(input(2))), [ofLine('x1'), ofLine('x2', 'f64')], kept, {
      ...{ kind: 'store', format: 'f32', strides: perLine.strides },
    }),
    planLoop(
      log ? sub(sub(input(0), input(1)), input(2)) : div(lifted, input(2)),
      [source, ofLine('x1'), ofLine('x2', log ? 'f32' : 'f64')],
      domain,
      { kind: 'store', format, strides: result.strides },
    ),
  ];
  const plans = planned.flatMap(plan => plan ?? []);
  return plans.length < planned.length ? null : plans;
}

/** The numbers of all lines. */
interface Lines {
  /** The shape of x, with 1 for the dimension of the softmax. */
  readonly kept: Shape;
  /** m */
  readonly largest: Float32Array;
  /** ln l, or m + ln l */
  readonly totals: Float32Array;
}

/** Writes the results of lines of −∞, and m + ln l if requested. */
function finishLines(
  { axis, log, mode }: SoftmaxPrimitive,
  { kept, largest, totals }: Lines,
  to: Tensor,
  stats: Tensor | undefined,
): void {
  const hasMasked = mode === 'inf-as-zero' && largest.includes(-Infinity);
  if (!hasMasked && !stats) return;
  const [width, step] = [to.shape[axis], to.strides[axis]];
  const encodeStats = stats && dtypeInfo[stats.dtype].encode;
  let row = 0;
  forEachIndex(kept, index => {
    const isMasked = hasMasked && largest[row] === -Infinity;
    const at = to.offset + offsetOf(index, to.strides);
    if (isMasked) for (let n = 0; n < width; n++) to.data[at + n * step] = 0;
    if (encodeStats) {
      const total = log ? largest[row] + totals[row] : totals[row];
      stats.data[stats.offset + offsetOf(index, stats.strides)] = encodeStats(isMasked ? 0 : total);
    }
    row++;
  });
}
