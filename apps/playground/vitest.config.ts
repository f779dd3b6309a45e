import { project } from '../../vitest.project.ts';

/** Tests of budgets and of a learner's whole path take many minutes: `.ci/release` runs them. */
const long = process.env.TILEWISE_E2E === 'full';

// Files share a process: to start one and load the packages takes longer than most of them.
export default project({
  name: 'playground',
  isolate: false,
  // Browsers share the machine with other tests; what hangs in one is named after two minutes.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  ...(long ? {} : { exclude: ['**/node_modules/**', '**/e2e/long/**'] }),
});
