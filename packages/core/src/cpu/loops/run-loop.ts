import type { Kernels } from '../kernels/interface/kernels.ts';
import type { CompiledLoop } from './compiled-loop.ts';
import { runNumbers } from './loop-spec.ts';
import type { LoopPlan } from './plan-loop.ts';

/**
 * Runs a planned loop over its whole domain.
 * @param output the address of the first element of the output, `inputs` those of the inputs.
 */
export function runLoop(
  { spec, shape, outputSteps, outputStart, streams, tables }: LoopPlan,
  loop: CompiledLoop,
  { memory }: Kernels,
  output: number,
  inputs: ArrayLike<number>,
): void {
  if (shape.includes(0)) return;
  const inner = shape.length - 1;
  const outer = inner - 1;
  const numbers = memory.scratch(runNumbers.length(spec)).at;
  const { i32 } = memory;
  const first = numbers >> 2;
  i32[first + runNumbers.count] = shape[inner];
  i32[first + runNumbers.rows] = outer < 0 ? 1 : shape[outer];
  writeStream(-1, output + outputStart, outputSteps);
  for (let s = 0; s < streams.length; s++) {
    const { input, steps, start } = streams[s];
    writeStream(s, inputs[input] + start, steps);
  }
  for (let t = 0; t < tables.length; t++) i32[first + runNumbers.table(spec, t)] = inputs[tables[t]];
  for (let d = 0; d <= inner; d++) i32[first + runNumbers.place(spec, d)] = 0;

  function writeStream(s: number, at: number, steps: readonly number[]): void {
    const to = first + runNumbers.stream(s);
    i32[to] = at;
    i32[to + 1] = steps[inner];
    i32[to + 2] = outer < 0 ? 0 : steps[outer];
  }

  for (;;) {
    loop(numbers);
    // The next place in the dimensions around the rows.
    let d = outer - 1;
    for (; d >= 0; d--) {
      const place = first + runNumbers.place(spec, d);
      const isLast = i32[place] === shape[d] - 1;
      const by = isLast ? 1 - shape[d] : 1;
      i32[place] += by;
      i32[first + runNumbers.stream(-1)] += by * outputSteps[d];
      for (let s = 0; s < streams.length; s++) {
        i32[first + runNumbers.stream(s)] += by * streams[s].steps[d];
      }
      if (!isLast) break;
    }
    if (d < 0) return;
  }
}
