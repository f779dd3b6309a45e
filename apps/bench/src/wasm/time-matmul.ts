import { perPiece, startStopwatch, type Took } from '../timing/stopwatch.ts';
import type { SecondThread } from './second-thread.ts';
import type { WasmMatmul } from './wasm-matmul.ts';

/** The shortest time that a measurement takes in one round. */
export const MEASURED_MS = 50;

/** The time of a floating-point operation, on this thread alone or together with a second one. */
export function timeMatmul({ flops, run }: WasmMatmul, second?: SecondThread): Took {
  second?.work(true);
  const before = second?.runs() ?? 0;
  const passed = startStopwatch();
  let runs = 0;
  let took: Took;
  do {
    for (let n = 0; n < 20; n++) run();
    runs += 20;
    took = passed();
  } while (took.wall < MEASURED_MS);
  const others = (second?.runs() ?? 0) - before;
  second?.work(false);
  return perPiece(took, (runs + others) * flops);
}
