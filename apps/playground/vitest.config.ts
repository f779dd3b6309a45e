import { project } from '../../vitest.project.ts';

/** Tests of budgets and of a learner's whole path take many minutes: `.ci/release` runs them. */
const long = process.env.TILEWISE_E2E === 'full';

// Test files share a process, because starting one and loading the packages takes longer than most tests.
export default project({
  name: 'playground',
  include: ['src/**/*.test.ts', 'build/**/*.test.ts'],
  isolate: false,
  // Browsers share the machine with other tests; a test that hangs fails with its name after two minutes.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  ...(long ? {} : { exclude: ['**/node_modules/**', '**/e2e/long/**'] }),
});
