import type { ConformanceCase, Outcome } from '../../case.ts';
import type { Suite } from '../../suite.ts';
import { engineNames } from '../attention/engines.ts';
import { type RawCase, readCases } from './case-file.ts';
import { type CudnnCase, parseCase } from './case-format.ts';
import { concreteCalls } from './concrete.ts';
import { gflop } from './gflop.ts';
import { openRunner } from './open-runner.ts';
import { runCase } from './run-case.ts';
import type { Runner } from './runner.ts';

/** cuDNN's own test cases of attention, against the reference. */
export const cudnn: Suite = {
  name: 'cudnn',
  summary:
    "cuDNN's test cases, forward and backward; the error is that of the worst element, 1 = all that is allowed",
  options: {
    cases: { value: 'FILE', meaning: 'a JSON list of cases, or an object of such lists', required: true },
    engine: { value: 'NAME', meaning: 'what computes', choices: engineNames },
    'max-gflop': { value: 'N', meaning: 'skip cases of more, counted from their shapes', number: true },
  },
  async open({ cases: file = '', engine = '', 'max-gflop': most }) {
    const raws = readCases(file);
    const { runner, close } = await openRunner(engine);
    const limit = most === undefined ? Infinity : Number(most);
    return { cases: raws.map((raw, i) => caseOf(raw, i, runner, limit)), close };
  },
};

function caseOf(raw: RawCase, index: number, runner: Runner, limit: number): ConformanceCase {
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
    ...(work > limit && { skip: `it takes ${work.toPrecision(3)} GFLOP, more than --max-gflop ${limit}` }),
    run: () => runCase(runner, parsed),
  };
}
