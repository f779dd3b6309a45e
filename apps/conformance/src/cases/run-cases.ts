import { type CaseResult, type ConformanceCase, type Counts, noCases } from './case.ts';

/** Receives the events of a run. */
export interface RunListener {
  started?(name: string, index: number, total: number): void;
  finished(result: CaseResult): void;
}

/** Runs the case with a number, one case at a time. */
export type Lane = (index: number) => Promise<CaseResult>;

/**
 * Runs the cases whose name contains `filter` and that no option skips, each on the first of `lanes` that is
 * free, and counts the outcomes. The listener gets the results in the order of the cases.
 */
export async function runCases(
  cases: readonly ConformanceCase[],
  filter: string,
  lanes: readonly Lane[],
  listener: RunListener,
): Promise<Counts> {
  const counts = { ...noCases };
  /** Results of cases that ended before an earlier case. */
  const waiting = new Map<number, CaseResult>();
  let told = 0;
  let next = 0;

  function finish(index: number, result: CaseResult): void {
    waiting.set(index, result);
    for (let first = waiting.get(told); first; first = waiting.get(told)) {
      waiting.delete(told);
      told++;
      counts[first.status]++;
      listener.finished(first);
    }
  }

  async function drive(lane: Lane): Promise<void> {
    while (next < cases.length) {
      const index = next++;
      const { name } = cases[index];
      listener.started?.(name, index, cases.length);
      const left = skipReason(cases[index], filter);
      finish(index, left === undefined ? await lane(index) : skipped(name, left));
    }
  }

  await Promise.all(lanes.map(drive));
  return counts;
}

/** The number of cases that `runCases` runs. */
export const countOfRun = (cases: readonly ConformanceCase[], filter: string): number =>
  cases.filter(testCase => skipReason(testCase, filter) === undefined).length;

/** A lane in this process. A case that throws has failed, with the error's message as the reason. */
export const here =
  (cases: readonly ConformanceCase[]): Lane =>
  async index => {
    const testCase = cases[index];
    const start = performance.now();
    const took = () => Math.round((performance.now() - start) * 100) / 100;
    try {
      const { status, error, reason } = await testCase.run();
      return { case: testCase.name, status, error, reason, ms: took() };
    } catch (thrown) {
      return { case: testCase.name, status: 'fail', error: null, reason: String(thrown), ms: took() };
    }
  };

function skipReason({ name, skip }: ConformanceCase, filter: string): string | undefined {
  return name.includes(filter) ? skip : `its name does not contain '${filter}'`;
}

function skipped(name: string, reason: string): CaseResult {
  return { case: name, status: 'skipped', error: null, reason, ms: 0 };
}
