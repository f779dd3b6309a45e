import type { ConformanceCase, Outcome } from '../../cases/case.ts';
import { skippedBySize, workOptions } from '../../cases/work-range.ts';
import { engineNames } from '../../engines/engines.ts';
import type { Suite } from '../../suite.ts';
import { concreteCalls } from './concrete/concrete.ts';
import { gflop } from './concrete/gflop.ts';
import { type RawCase, readCases } from './format/case-file.ts';
import { type CudnnCase, parseCase } from './format/case-format.ts';
import { runCase } from './outcome/run-case.ts';
import { openRunner } from './runners/open-runner.ts';
import type { Runner } from './runners/runner.ts';

/** cuDNN's own test cases of attention, against the reference. */
export const cudnn: Suite = {
  name: 'cudnn',
  summary:
    "cuDNN's test cases, forward and backward; the error is the worst element's, in units of its tolerance",
  options: {
    cases: { value: 'FILE', meaning: 'a JSON list of cases, or an object of such lists', required: true },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: engineNames },
    ...workOptions,
  },
  sideBySide: true,
  async open(options) {
    const { cases: file = '', engine = '' } = options;
    const raws = readCases(file);
    const { runner, close } = await openRunner(engine);
    return { cases: raws.map((raw, i) => caseOf(raw, i, runner, options)), close };
  },
};

function caseOf(
  raw: RawCase,
  index: number,
  runner: Runner,
  options: Readonly<Record<string, string>>,
): ConformanceCase {
  const name = typeof raw.id === 'string' ? raw.id : `#${index}`;
  let parsed: CudnnCase;
  let work: number;
  try {
    parsed = parseCase(raw);
    work = concreteCalls(parsed).reduce((sum, call) => sum + gflop(call), 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const notUnderstood: Outcome = { status: 'fail', error: null, reason };
    return { name, run: async () => notUnderstood };
  }
  return {
    name,
    ...skippedBySize(work, options),
    run: () => runCase(runner, parsed),
  };
}
