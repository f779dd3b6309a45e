import { compile } from '../../expr/evaluate/evaluate.ts';
import { lineWriter } from '../../primitive/host/line-writer.ts';
import { broadcastStrides, forEachIndex, offsetOf } from '../../primitive/host/reader.ts';
import type { ReducePrimitive } from '../../primitive/primitive.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels, LineKernels } from '../kernels/kernels.ts';
import { collapseDimensions } from './collapse-dimensions.ts';
import { createLineProgram, LINE, type LinePlan } from './line-program.ts';

const KEPT = 0;
const REDUCED = 1;

/** The reductions that lines are made for. */
export type LineReduction = Exclude<ReducePrimitive['op'], 'prod'>;

const starts: Readonly<Record<LineReduction, number>> = { sum: 0, max: -Infinity, min: Infinity };

/**
 * Runs a reduction: its elements in f32, their sums in f64, each result rounded once to the dtype of the
 * output.
 */
export function runReduce(
  plan: LinePlan,
  op: LineReduction,
  { axes, domain, result }: ReducePrimitive,
  kernels: Kernels,
  lines: LineKernels,
  inputs: readonly Tensor[],
  output: Tensor,
): void {
  const { memory } = kernels;
  memory.reset();
  const groupOf = domain.map((_, d) => (axes.includes(d) ? REDUCED : KEPT));
  const { shape, strides, groups } = collapseDimensions(
    domain,
    [
      ...inputs.map(input => broadcastStrides(input, domain)),
      output.strides.map((stride, d) => (groupOf[d] === REDUCED ? 0 : stride)),
    ],
    groupOf,
  );
  const last = shape.length - 1;
  const width = shape[last];
  const steps = strides.map(own => own[last]);
  const rowSteps = strides.map(own => (last > 0 ? own[last - 1] : 0));
  const outputStrides = strides[inputs.length];
  const only = (group: number): number[] =>
    shape.map((extent, d) => (d !== last && groups[d] === group ? extent : 1));
  const rowsAtOnce = Math.floor(LINE / Math.max(width, 1));
  const program = createLineProgram(plan, kernels, lines, inputs);
  const sums = memory.allocate(Float64Array, LINE + 8);
  const bests = memory.floats(LINE + 8);
  const index = shape.map(() => 0);
  const from = inputs.map(() => 0);
  const write = lineWriter(output);
  let value = 0;
  const finish = compile(result, () => () => value);

  /**
   * Computes elements `first` ≤ n < `first` + `count` of the line at a place, and of the `rows` − 1 behind
   * it.
   */
  function compute(
    kept: readonly number[],
    reduced: readonly number[],
    first: number,
    count: number,
    rows: number,
  ): void {
    for (let d = 0; d < index.length; d++) index[d] = kept[d] + reduced[d];
    for (let n = 0; n < from.length; n++) {
      from[n] = inputs[n].offset + offsetOf(index, strides[n]) + first * steps[n];
    }
    program.run(rows, count, from, steps, rowSteps);
  }

  /** Writes `count` results from the one at a place on, along dimension d. */
  function store(place: readonly number[], d: number, first: number, count: number): void {
    const { values } = sums;
    for (let n = 0; n < count; n++) {
      value = values[n];
      values[n] = finish(0, 0, 0, 0, 0);
    }
    const step = outputStrides[d];
    write(values, count, output.offset + offsetOf(place, outputStrides) + first * step, step);
  }

  /** The one result of lines that are reduced. */
  function reduceLines(kept: readonly number[]): void {
    let total = starts[op];
    forEachIndex(only(REDUCED), reduced => {
      for (let first = 0; first < width; first += LINE) {
        const count = Math.min(LINE, width - first);
        compute(kept, reduced, first, count, 1);
        total = joined(total, program.at, count);
      }
    });
    sums.values[0] = total;
    store(kept, last, 0, 1);
  }

  /** The results of short lines, each reduced by itself, several at once. */
  function reduceRows(kept: readonly number[]): void {
    const rows = shape[last - 1];
    const none = shape.map(() => 0);
    const place = [...kept];
    for (let row = 0; row < rows; row += rowsAtOnce) {
      const some = Math.min(rowsAtOnce, rows - row);
      place[last - 1] = row;
      compute(place, none, 0, width, some);
      for (let r = 0; r < some; r++) {
        sums.values[r] = joined(starts[op], program.at + 4 * r * width, width);
      }
      store(place, last - 1, 0, some);
    }
  }

  function joined(before: number, at: number, count: number): number {
    if (op === 'sum') return before + lines.sumLine(count, at);
    const { f32 } = memory;
    const pick = op === 'max' ? Math.max : Math.min;
    let found = before;
    for (let n = at >> 2; n < (at >> 2) + count; n++) found = pick(found, f32[n]);
    return found;
  }

  /** As many results as a line has elements. */
  function joinLines(kept: readonly number[], first: number): void {
    const count = Math.min(LINE, width - first);
    sums.values.fill(0);
    bests.values.fill(starts[op]);
    forEachIndex(only(REDUCED), reduced => {
      compute(kept, reduced, first, count, 1);
      if (op === 'sum') lines.addToSums(count, program.at, sums.at);
      else lines[op === 'max' ? 'maxLines' : 'minLines'](count, bests.at, program.at, bests.at);
    });
    if (op !== 'sum') sums.values.set(bests.values);
    store(kept, last, first, count);
  }

  if (groups[last] !== REDUCED) {
    forEachIndex(only(KEPT), kept => {
      for (let first = 0; first < width; first += LINE) joinLines(kept, first);
    });
  } else if (rowsAtOnce > 1 && last > 0 && groups.indexOf(REDUCED) === last) {
    forEachIndex(
      only(KEPT).map((extent, d) => (d === last - 1 ? Math.min(extent, 1) : extent)),
      reduceRows,
    );
  } else forEachIndex(only(KEPT), reduceLines);
}
