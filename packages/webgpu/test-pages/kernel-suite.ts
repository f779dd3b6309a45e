import { parseGolden, type StorageDType } from '@tilewise/test-data/golden';
import { describeProblem, randomProblems } from '@tilewise/test-data/random-problem';
import { diagnose } from '../src/doctor/index.ts';
import { createContext, type GpuContext } from '../src/index.ts';
import { goldenDisagreements } from '../testing/attention/golden.ts';
import { disagreements, isSupported } from '../testing/random-problems/random-problem.ts';

/** The cases that the page runs. The page fetches them from `/suite.json`. */
export interface KernelSuite {
  /** Golden cases in their file format, each with a storage dtype. */
  readonly golden: readonly {
    readonly name: string;
    readonly storage: StorageDType;
    readonly text: string;
  }[];
  readonly seed: number;
  /** The number of structures of random problems, and the number of problems of each structure. */
  readonly structures: number;
  readonly each: number;
}

/** The differences from the reference, by the name of the case. */
export interface KernelSuiteResults {
  readonly adapter: string;
  readonly golden: Readonly<Record<string, readonly string[]>>;
  readonly random: Readonly<Record<string, readonly string[]>>;
  readonly verdict: string;
}

async function run(): Promise<KernelSuiteResults> {
  const suite: KernelSuite = await (await fetch('/suite.json')).json();
  const adapter = await navigator.gpu.requestAdapter();
  const ctx = await createContext(adapter ? { adapter } : {});
  const golden: Record<string, readonly string[]> = {};
  for (const { name, storage, text } of suite.golden)
    golden[`${name} stored as ${storage}`] = await goldenDisagreements(ctx, parseGolden(text), storage);
  const random = await runRandom(ctx, suite);
  ctx.destroy();
  const { verdict } = await diagnose();
  return { adapter: adapter?.info.description ?? '', golden, random, verdict };
}

/** Runs a few problems of some structures, spread over all structures. */
async function runRandom(
  ctx: GpuContext,
  { seed, structures, each }: KernelSuite,
): Promise<Record<string, readonly string[]>> {
  const problems = randomProblems(seed, { atLeast: 500, admits: problem => isSupported(ctx, problem) });
  const perStructure = problems.count / problems.structures.length;
  const results: Record<string, readonly string[]> = {};
  for (let n = 0; n < structures; n++) {
    const first = Math.floor((n * problems.structures.length) / structures) * perStructure;
    for (let number = first; number < first + Math.min(each, perStructure); number++) {
      const problem = problems.problem(number);
      results[describeProblem(problem)] = await disagreements(ctx, problem);
    }
  }
  return results;
}

Object.assign(globalThis, { result: run() });
