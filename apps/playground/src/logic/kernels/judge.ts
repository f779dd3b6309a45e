import { type Encode, type GpuClock, gpuClock, runsPerPass } from '@tilewise/webgpu/tune';
import { isSoftware } from '../../engine/software-adapter.ts';
import { compare, type Difference, type Wrong } from './compare.ts';
import { expected } from './expected.ts';
import { type CompiledKernel, compileKernel } from './gpu/compile.ts';
import { type Failure, KernelError } from './gpu/failure.ts';
import type { PuzzleGpu } from './gpu/puzzle-gpu.ts';
import { type BoundKernel, bindKernel, type Results } from './gpu/run-kernel.ts';
import { type ArrayName, rowCount, rowLength, type Sizes } from './puzzles/arrays.ts';
import { headerOf } from './puzzles/header.ts';
import {
  countedInput,
  hiddenCount,
  hiddenInputs,
  type InputId,
  type KernelInput,
  timedInput,
} from './puzzles/inputs.ts';
import { rivalOf, solutionOf } from './puzzles/programs.ts';
import { type Puzzle, puzzleOf, type ReadBudget, tileRows } from './puzzles/puzzles.ts';
import { recogniseSlip, type Slip } from './slips.ts';

/** A step on the way to a judgement. */
export type Stage =
  | { readonly kind: 'compiling' }
  | { readonly kind: 'checking'; readonly done: number; readonly of: number }
  | { readonly kind: 'timing' };

/** How often an array was read, in the unit of its budget. */
export interface ReadCount {
  readonly array: ArrayName;
  readonly unit: ReadBudget['unit'];
  readonly most: number;
  readonly found: number;
}

/** Milliseconds of a dispatch, on this device and at this size. */
export interface Times {
  readonly sizes: Sizes;
  readonly own: number;
  /** A simple kernel; null if the puzzle has none. */
  readonly rival: number | null;
  readonly best: number;
  readonly clock: 'timestamps' | 'wall clock';
  /** The adapter's own description. */
  readonly device: string;
  readonly software: boolean;
}

/** The result of judging a program. */
export type Judgement =
  | { readonly kind: 'failed'; readonly failure: Failure }
  | {
      readonly kind: 'wrong';
      readonly input: InputId;
      readonly sizes: Sizes;
      readonly wrong: Wrong;
      readonly slip: Slip | null;
      /** The number of inputs on which the program is right. */
      readonly right: number;
    }
  | {
      readonly kind: 'right';
      /** The number of hidden inputs, on all of which the program is right. */
      readonly inputs: number;
      readonly largest: Difference;
      readonly reads: readonly ReadCount[];
      /** Null if the program reads too much. */
      readonly times: Times | null;
    };

/** Runs a program on inputs. The program is compiled once for each header that the inputs need. */
function runnerOf(gpu: PuzzleGpu, puzzle: Puzzle, program: string) {
  const compiled = new Map<string, CompiledKernel>();
  return (input: KernelInput, counting = false): Promise<Results> =>
    gpu.run(async device => {
      const { columns } = input.sizes;
      const key = `${headerOf(puzzle, columns)} ${counting}`;
      const kernel =
        compiled.get(key) ?? (await compileKernel(device, puzzle, program, { columns, counting }));
      compiled.set(key, kernel);
      const bound = bindKernel(device, kernel, input);
      try {
        return await bound.results();
      } finally {
        bound.destroy();
      }
    });
}

/**
 * Judges a program: whether it is right on the hidden inputs, how often it reads, and how long it takes. A
 * program's mistakes are part of the result and not thrown.
 */
export async function judge(
  gpu: PuzzleGpu,
  puzzle: Puzzle,
  program: string,
  onStage: (stage: Stage) => void = () => {},
): Promise<Judgement> {
  try {
    return await judged(gpu, puzzle, program, onStage);
  } catch (error) {
    if (error instanceof KernelError) return { kind: 'failed', failure: error.failure };
    throw error;
  }
}

async function judged(
  gpu: PuzzleGpu,
  puzzle: Puzzle,
  program: string,
  onStage: (stage: Stage) => void,
): Promise<Judgement> {
  onStage({ kind: 'compiling' });
  let largest: Difference | null = null;
  let right = 0;
  const run = runnerOf(gpu, puzzle, program);
  for (const input of hiddenInputs(puzzle)) {
    const { outputs } = await run(input);
    const found = compare(outputs, expected(puzzle, input), input.sizes);
    if (found.wrong) {
      const { outputs: again } = await run(input);
      const slip = recogniseSlip(puzzle, input, { program, outputs, again });
      return { kind: 'wrong', input: input.id, sizes: input.sizes, wrong: found.wrong, slip, right };
    }
    if (!largest || found.largest.times > largest.times) largest = found.largest;
    right++;
    onStage({ kind: 'checking', done: right, of: hiddenCount });
  }
  if (!largest) throw new RangeError('there are no inputs');
  const reads = await countedReads(puzzle, input => run(input, true));
  if (reads.some(({ found, most }) => found > most))
    return { kind: 'right', inputs: right, largest, reads, times: null };
  onStage({ kind: 'timing' });
  return { kind: 'right', inputs: right, largest, reads, times: await timesOf(gpu, puzzle, program) };
}

/** How often a program reads each array that has a budget. */
async function countedReads(
  puzzle: Puzzle,
  run: (input: KernelInput) => Promise<Results>,
): Promise<ReadCount[]> {
  if (puzzle.budgets.length === 0) return [];
  const input = countedInput(puzzle);
  const { reads } = await run(input);
  return puzzle.budgets.map(({ array, unit, most }) => {
    const length = rowLength(array, input.sizes);
    const one = unit === 'tiles' ? tileRows * length : rowCount(array, input.sizes) * length;
    return { array, unit, most: most(input.sizes), found: (reads.get(array) ?? 0) / one };
  });
}

/** Sizes large enough to keep a GPU busy, and small enough for a CPU that emulates one. */
const timedSizes = (puzzle: Puzzle, software: boolean): Sizes =>
  puzzle.workgroup === 'row'
    ? { n: software ? 1024 : 4096, columns: 16, rows: software ? 32 : 1024 }
    : { n: software ? 256 : 4096, columns: 16, rows: 1 };

/** Rounds of a race. */
const rounds = 7;

/** A kernel in a race, with the sizes that it runs at. */
interface Runner extends BoundKernel {
  readonly sizes: Sizes;
}

/**
 * The shortest time of each kernel, over rounds in which the kernels take turns, so that a disturbance of the
 * device affects them alike.
 */
async function leastTimes(clock: GpuClock, runners: readonly Runner[]): Promise<number[]> {
  const laps: { readonly encode: Encode; readonly count: number; least: number }[] = [];
  for (const runner of runners) {
    const encode: Encode = pass => runner.encode(pass);
    // The first run may compile.
    await clock.once(encode, 0);
    laps.push({ encode, count: runsPerPass(await clock.once(encode, 1)), least: Number.POSITIVE_INFINITY });
  }
  for (let round = 2; round < 2 + rounds; round++)
    for (const lap of laps) lap.least = Math.min(lap.least, await clock.once(lap.encode, round, lap.count));
  return laps.map(({ least }) => least);
}

/** The time of a program, beside the times of a simple kernel and of the best known kernel. */
const timesOf = (gpu: PuzzleGpu, puzzle: Puzzle, program: string): Promise<Times> =>
  gpu.run(async device => {
    const { adapterInfo } = device;
    const software = isSoftware(adapterInfo);
    const bind = async (one: Puzzle, text: string): Promise<Runner> => {
      const sizes = timedSizes(one, software);
      return {
        ...bindKernel(device, await compileKernel(device, one, text, sizes), timedInput(one, sizes)),
        sizes,
      };
    };
    const own = await bind(puzzle, program);
    const best = await bind(puzzle, solutionOf(puzzle.id));
    const { rival } = puzzle;
    const simple =
      rival?.kind === 'own'
        ? await bind(puzzle, rivalOf(puzzle.id))
        : rival && (await bind(puzzleOf(rival.id), solutionOf(rival.id)));
    const runners = [own, best, ...(simple ? [simple] : [])];
    const clock = gpuClock(device);
    try {
      const [ownMs = 0, bestMs = 0, rivalMs = null] = await leastTimes(clock, runners);
      const { description, architecture, vendor } = adapterInfo;
      const name = description || [vendor, architecture].filter(Boolean).join(' ');
      return {
        sizes: own.sizes,
        own: ownMs,
        rival: rivalMs,
        best: bestMs,
        clock: clock.kind,
        device: name,
        software,
      };
    } finally {
      clock.destroy();
      for (const runner of runners) runner.destroy();
    }
  });
