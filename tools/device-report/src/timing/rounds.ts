import { type Encode, type GpuClock, runsPerPass } from '@tilewise/webgpu/tune';
import { summary, type Timing } from './timing.ts';

export interface RoundsOptions {
  /** The least number of timed runs; default 3. */
  readonly repeats?: number;
  /** The time to spend on each piece of work, including waiting; default 300 milliseconds. */
  readonly ms?: number;
  /** The maximum number of runs; default 100. */
  readonly most?: number;
}

/**
 * Times several pieces of work in turn, round after round, so that other load on the machine slows all of
 * them down alike. Each must have run before, because the first run compiles.
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

/**
 * Times GPU work in turn, after a warm-up. Each piece is repeated in one pass until it takes long enough for
 * the clock.
 */
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
