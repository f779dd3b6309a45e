import { compile } from '../../expr/evaluate.ts';
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

/** Runs a reduction: its elements in f32, their sums in f64, each result rounded once to the dtype of the output. */
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
  const outputStrides = strides[inputs.length];
  const only = (group: number): number[] =>
    shape.map((extent, d) => (d !== last && groups[d] === group ? extent : 1));
  const program = createLineProgram(plan, kernels, lines, inputs);
  const sums = memory.allocate(Float64Array, LINE + 8);
  const bests = memory.floats(LINE + 8);
  const index = shape.map(() => 0);
  const from = inputs.map(() => 0);
  const write = lineWriter(output);
  let value = 0;
  const finish = compile(result, () => () => value);

  /** Computes elements `first` ≤ n < `first` + `count` of the line at a place. */
  function compute(kept: readonly number[], reduced: readonly number[], first: number, count: number): void {
    for (let d = 0; d < index.length; d++) index[d] = kept[d] + reduced[d];
    for (let n = 0; n < from.length; n++) {
      from[n] = inputs[n].offset + offsetOf(index, strides[n]) + first * steps[n];
    }
    program.run(count, from, steps);
  }

  function store(kept: readonly number[], first: number, count: number): void {
    const { values } = sums;
    for (let n = 0; n < count; n++) {
      value = values[n];
      values[n] = finish(0, 0, 0, 0, 0);
    }
    const step = outputStrides[last];
    write(values, count, output.offset + offsetOf(kept, outputStrides) + first * step, step);
  }

  /** The one result of lines that are reduced. */
  function reduceLines(kept: readonly number[]): void {
    let total = starts[op];
    forEachIndex(only(REDUCED), reduced => {
      for (let first = 0; first < width; first += LINE) {
        const count = Math.min(LINE, width - first);
        compute(kept, reduced, first, count);
        total = op === 'sum' ? total + lines.sumLine(count, program.at) : best(total, count);
      }
    });
    sums.values[0] = total;
    store(kept, 0, 1);
  }

  function best(before: number, count: number): number {
    const { f32 } = memory;
    const pick = op === 'max' ? Math.max : Math.min;
    let found = before;
    for (let at = program.at >> 2; at < (program.at >> 2) + count; at++) found = pick(found, f32[at]);
    return found;
  }

  /** As many results as a line has elements. */
  function joinLines(kept: readonly number[], first: number): void {
    const count = Math.min(LINE, width - first);
    sums.values.fill(0);
    bests.values.fill(starts[op]);
    forEachIndex(only(REDUCED), reduced => {
      compute(kept, reduced, first, count);
      if (op === 'sum') lines.addToSums(count, program.at, sums.at);
      else lines[op === 'max' ? 'maxLines' : 'minLines'](count, bests.at, program.at, bests.at);
    });
    if (op !== 'sum') sums.values.set(bests.values);
    store(kept, first, count);
  }

  if (groups[last] === REDUCED) forEachIndex(only(KEPT), reduceLines);
  else {
    forEachIndex(only(KEPT), kept => {
      for (let first = 0; first < width; first += LINE) joinLines(kept, first);
    });
  }
}
