import { defineConfig } from 'vitest/config';

// Where to write the counts for a caller that adds them up, such as `.ci/run`.
const report = process.env.TILEWISE_TEST_REPORT;

export default defineConfig({
  test: {
    projects: ['packages/*', 'tools/*', 'apps/*', 'examples/*'],
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
});
