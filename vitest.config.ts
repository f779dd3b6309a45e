import { defineConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';
import { sharedDir } from './tools/test-data/src/data-folders.ts';

// Where to write the counts for a caller that adds them up, such as `.ci/run`.
const report = process.env.TILEWISE_TEST_REPORT;

/** A run on the committed selection alone is a smaller one, and says so. */
const dataReporter: Reporter = {
  onTestRunEnd() {
    console.log(
      sharedDir()
        ? 'Golden vectors: the full sets.'
        : 'Golden vectors: the committed fixtures only. Left out: the rest of the attention and philox vectors, ' +
            'which are looked for in ../shared or where TILEWISE_SHARED says.',
    );
  },
};

export default defineConfig({
  test: {
    // Vitest would leave one core free: of two, half the machine.
    maxWorkers: '100%',
    projects: ['packages/*', 'tools/*', 'apps/*', 'examples/*', 'docs', 'scripts'],
    reporters: ['default', dataReporter, ...(report ? [['json', { outputFile: report }] as const] : [])],
  },
});
