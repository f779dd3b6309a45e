import type { ConformanceCase, Outcome } from '../../cases/case.ts';
import { SetupError, type Suite } from '../../suite.ts';
import { createComputeRunner } from './compute-runner.ts';
import { families } from './families/index.ts';
import type { Comparison } from './family.ts';
import type { Generator } from './generator.ts';
import { hostGenerator } from './host-generator.ts';
import { isSame } from './numerals.ts';
import { type VectorRecord, vectorRecords } from './vector-files.ts';
import { webgpuGenerator } from './webgpu-generator.ts';

/** Known answers of Philox and of everything built on it, compared for equality. */
export const philox: Suite = {
  name: 'philox',
  summary: 'known answers and dropout masks, bit by bit; the error is the number of values that differ',
  options: {
    vectors: { value: 'DIR', meaning: 'JSON files of vectors, recognised by their fields', required: true },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: ['cpu', 'webgpu'] },
  },
  async open({ vectors = '', engine }) {
    const records = vectorRecords(vectors);
    const { generator, close } = engine === 'webgpu' ? await openWebGpu() : onHost;
    return { cases: records.map(record => caseOf(record, generator)), close };
  },
};

const onHost = { generator: hostGenerator, close: () => {} };

async function openWebGpu(): Promise<typeof onHost> {
  try {
    const { openGpu } = await import('@tilewise/webgpu-host');
    const { adapter } = await openGpu();
    const runner = await createComputeRunner(adapter);
    return { generator: webgpuGenerator(runner), close: () => runner.close() };
  } catch (error) {
    throw new SetupError(`--engine webgpu: ${error instanceof Error ? error.message : error}`);
  }
}

function caseOf({ name, section, record, skip }: VectorRecord, generator: Generator): ConformanceCase {
  return {
    name,
    ...(skip !== undefined && { skip }),
    run: async () => {
      const family = families.find(candidate => candidate.matches(section, record));
      if (!family) return unsupported('no family of vectors has these fields');
      const check = await family.check(section, record, generator);
      return 'unsupported' in check ? unsupported(check.unsupported) : outcomeOf(check);
    },
  };
}

function outcomeOf(comparisons: readonly Comparison[]): Outcome {
  const values = comparisons.reduce((sum, { want }) => sum + want.length, 0);
  if (values === 0) return { status: 'fail', error: null, reason: 'the record has no values' };
  const differences = comparisons.flatMap(differencesOf);
  if (differences.length === 0) return { status: 'pass', error: 0, reason: null };
  const reason = `${differences[0]}; ${differences.length} of ${values} values differ`;
  return { status: 'fail', error: differences.length, reason };
}

function differencesOf({ what, got, want }: Comparison): string[] {
  const length = Math.max(got.length, want.length);
  return Array.from({ length }, (_, i) => i)
    .filter(i => i >= got.length || !isSame(got[i], want[i]))
    .map(i => `${what}${length > 1 ? ` ${i}` : ''} is ${got[i]}, not ${want[i]}`);
}

function unsupported(reason: string): Outcome {
  return { status: 'unsupported', error: null, reason };
}
