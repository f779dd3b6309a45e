import { type Encode, type GpuClock, runsPerPass } from '@tilewise/webgpu/tune';
import { summary, type Timing } from './timing.ts';

export interface RoundsOptions {
  /** At least so many timed runs, 3 by default. */
  readonly repeats?: number;
  /** Go on for so long, 300 milliseconds by default, counting the waiting too. */
  readonly ms?: number;
  /** But no more runs than this, 100 by default. */
  readonly most?: number;
}

/**
 * Times several pieces of work in turn, round after round, so that whatever else the machine does slows all
 * of them down alike. Each has run before: the first run compiles.
 */
export async function timeInTurn(
  works: readonly ((round: number) => Promise<number>)[],
  { repeats = 3, ms = 300, most = 100 }: RoundsOptions = {},
): Promise<Timing[]> {
  const times: number[][] = works.map(() => []);
  const start = performance.now();
  for (let round = 1; round <= most; round++) {
    for (const [n, work] of works.entries()) times[n].push(await work(round));
    if (round >= repeats && performance.now() - start > ms * works.length) break;
  }
  return times.map(summary);
}

/** Times GPU work in turn, after a warm-up: each so many times in one pass that the clock can see it. */
export async function timePasses(
  clock: GpuClock,
  encodes: readonly Encode[],
  options?: RoundsOptions,
): Promise<Timing[]> {
  const works: ((round: number) => Promise<number>)[] = [];
  for (const encode of encodes) {
    await clock.once(encode, 0);
    const ms = await clock.once(encode, 1);
    const count = runsPerPass(ms);
    works.push(round => clock.once(encode, round, count));
  }
  return timeInTurn(works, options);
}
