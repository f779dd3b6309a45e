import { type CaseResult, type ConformanceCase, type Counts, noCases } from './case.ts';

/** Hears about a run as it goes. */
export interface RunListener {
  started?(name: string, index: number, total: number): void;
  finished(result: CaseResult): void;
}

/**
 * Runs the cases whose name contains `filter` and that no option skips, one after the other, and counts. A case that throws has failed, with the
 * error's message as its reason.
 */
export async function runCases(
  cases: readonly ConformanceCase[],
  filter: string,
  listener: RunListener,
): Promise<Counts> {
  const counts = { ...noCases };
  for (const [index, testCase] of cases.entries()) {
    listener.started?.(testCase.name, index, cases.length);
    const left = testCase.name.includes(filter) ? testCase.skip : `its name does not contain '${filter}'`;
    const result = left === undefined ? await runCase(testCase) : skipped(testCase.name, left);
    counts[result.status]++;
    listener.finished(result);
  }
  return counts;
}

async function runCase(testCase: ConformanceCase): Promise<CaseResult> {
  const start = performance.now();
  const took = () => Math.round((performance.now() - start) * 100) / 100;
  try {
    const { status, error, reason } = await testCase.run();
    return { case: testCase.name, status, error, reason, ms: took() };
  } catch (thrown) {
    return { case: testCase.name, status: 'fail', error: null, reason: String(thrown), ms: took() };
  }
}

function skipped(name: string, reason: string): CaseResult {
  return { case: name, status: 'skipped', error: null, reason, ms: 0 };
}
