import { elementCount } from '../../../tensor/shape.ts';
import { runNumbers } from '../../loops/loop-spec.ts';
import type { LoopPlan } from '../../loops/plan/plan-loop.ts';

/**
 * The part of a loop that one task computes: a range of the last dimension, one of the dimension before it,
 * which has the rows, and one of the runs. The loop runs once for each index of the dimensions outside the
 * rows, in row-major order.
 */
export interface LoopPart {
  readonly firstRun: number;
  readonly runs: number;
  readonly from: number;
  readonly count: number;
  readonly firstRow: number;
  readonly rows: number;
}

/** All rows and elements of a loop. */
export function wholePart({ shape }: LoopPlan): LoopPart {
  const inner = shape.length - 1;
  return {
    firstRun: 0,
    runs: elementCount(shape.slice(0, -2)),
    from: 0,
    count: shape[inner],
    firstRow: 0,
    rows: inner === 0 ? 1 : shape[inner - 1],
  };
}

/**
 * Writes the numbers of the first run of a loop, for the rows and elements of a part, in the order of
 * `runNumbers`.
 * @param first the word index of the first number; `output` and `inputs` are the addresses of first elements.
 */
export function writeRunNumbers(
  i32: Int32Array,
  first: number,
  { shape, outputSteps, outputStart, streams, tables }: LoopPlan,
  output: number,
  inputs: ArrayLike<number>,
  part: LoopPart,
): void {
  const outer = shape.length - 2;
  i32[first + runNumbers.count] = part.count;
  i32[first + runNumbers.rows] = part.rows;
  let at = writeStream(i32, first + runNumbers.stream(-1), output + outputStart, outputSteps, part);
  for (let s = 0; s < streams.length; s++) {
    const { input, steps, start } = streams[s];
    at = writeStream(i32, at, inputs[input] + start, steps, part);
  }
  for (let t = 0; t < tables.length; t++) i32[at++] = inputs[tables[t]];
  for (let d = 0; d < shape.length; d++) i32[at++] = d === outer ? part.firstRow : 0;
}

/** Writes the numbers of the output or of a stream at a word index; returns the index after them. */
function writeStream(
  i32: Int32Array,
  to: number,
  address: number,
  steps: readonly number[],
  { from, firstRow }: LoopPart,
): number {
  const inner = steps.length - 1;
  const row = inner === 0 ? 0 : steps[inner - 1];
  i32[to] = address + from * steps[inner] + firstRow * row;
  i32[to + 1] = steps[inner];
  i32[to + 2] = row;
  return to + 3;
}

/** Advances the numbers to the next run. Returns false, and starts again, after the last run. */
export function nextRun(
  i32: Int32Array,
  first: number,
  { spec, shape, outputSteps, streams }: LoopPlan,
): boolean {
  for (let d = shape.length - 3; d >= 0; d--) {
    const coordinate = first + runNumbers.coordinate(spec, d);
    const isLast = i32[coordinate] === shape[d] - 1;
    const by = isLast ? 1 - shape[d] : 1;
    i32[coordinate] += by;
    i32[first + runNumbers.stream(-1)] += by * outputSteps[d];
    for (let s = 0; s < streams.length; s++) i32[first + runNumbers.stream(s)] += by * streams[s].steps[d];
    if (!isLast) return true;
  }
  return false;
}
