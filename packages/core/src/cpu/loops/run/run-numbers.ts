import { runNumbers } from '../loop-spec.ts';
import type { LoopPlan } from '../plan/plan-loop.ts';

/**
 * The part of a loop that one task runs: a range of the last dimension, and one of the dimension before it.
 */
export interface LoopPart {
  readonly from: number;
  readonly count: number;
  readonly firstRow: number;
  readonly rows: number;
}

/** All rows and elements of a loop. */
export function wholePart({ shape }: LoopPlan): LoopPart {
  const inner = shape.length - 1;
  return { from: 0, count: shape[inner], firstRow: 0, rows: inner === 0 ? 1 : shape[inner - 1] };
}

/**
 * Writes the numbers for a run of a part of a loop, at the first place of the dimensions outside its rows.
 * @param first the word index of the first number; `output` and `inputs` are the addresses of first elements.
 */
export function writeRunNumbers(
  i32: Int32Array,
  first: number,
  { spec, shape, outputSteps, outputStart, streams, tables }: LoopPlan,
  output: number,
  inputs: ArrayLike<number>,
  { from, count, firstRow, rows }: LoopPart,
): void {
  const inner = shape.length - 1;
  const outer = inner - 1;
  i32[first + runNumbers.count] = count;
  i32[first + runNumbers.rows] = rows;
  writeStream(-1, output + outputStart, outputSteps);
  for (let s = 0; s < streams.length; s++) {
    const { input, steps, start } = streams[s];
    writeStream(s, inputs[input] + start, steps);
  }
  for (let t = 0; t < tables.length; t++) i32[first + runNumbers.table(spec, t)] = inputs[tables[t]];
  for (let d = 0; d <= inner; d++) i32[first + runNumbers.place(spec, d)] = d === outer ? firstRow : 0;

  function writeStream(s: number, at: number, steps: readonly number[]): void {
    const to = first + runNumbers.stream(s);
    const row = outer < 0 ? 0 : steps[outer];
    i32[to] = at + from * steps[inner] + firstRow * row;
    i32[to + 1] = steps[inner];
    i32[to + 2] = row;
  }
}

/** Advances the numbers to the next place in the dimensions outside the rows; false after the last place. */
export function nextPlace(
  i32: Int32Array,
  first: number,
  { spec, shape, outputSteps, streams }: LoopPlan,
): boolean {
  for (let d = shape.length - 3; d >= 0; d--) {
    const place = first + runNumbers.place(spec, d);
    const isLast = i32[place] === shape[d] - 1;
    const by = isLast ? 1 - shape[d] : 1;
    i32[place] += by;
    i32[first + runNumbers.stream(-1)] += by * outputSteps[d];
    for (let s = 0; s < streams.length; s++) i32[first + runNumbers.stream(s)] += by * streams[s].steps[d];
    if (!isLast) return true;
  }
  return false;
}
