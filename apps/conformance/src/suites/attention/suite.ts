import type { StorageDType } from '@tilewise/test-data';
import type { ConformanceCase } from '../../cases/case.ts';
import { engineNames } from '../../engines/engines.ts';
import type { Suite } from '../../suite.ts';
import { type OpenEngine, openEngine } from './attention-engine.ts';
import { type CaseFile, caseFiles, readCase } from './case-files.ts';
import { runGolden } from './run-golden.ts';

/** Golden cases of attention, forward and backward, against float64 results. */
export const attention: Suite = {
  name: 'attention',
  summary: "forward and backward of golden cases; the error is the worst tensor's, in units of its tolerance",
  options: {
    vectors: {
      value: 'DIR',
      meaning: 'manifest.json and cases/, or the case files themselves',
      required: true,
    },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: engineNames },
    dtype: { value: 'DTYPE', meaning: 'storage dtype of q, k, v, o and dO', choices: ['f32', 'f16', 'bf16'] },
  },
  async open({ vectors = '', engine = '', dtype }) {
    const files = caseFiles(vectors);
    const opened = await openEngine(engine);
    return {
      cases: files.map(file => caseOf(file, opened, dtype as StorageDType)),
      close: opened.close,
    };
  },
};

function caseOf(file: CaseFile, { run }: OpenEngine, storage: StorageDType): ConformanceCase {
  return {
    name: file.name,
    run: async () => {
      const golden = readCase(file);
      return run(engine => runGolden(engine, golden, storage));
    },
  };
}
