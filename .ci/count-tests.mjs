// Prints the numbers "PASSED FAILED" of a Vitest JSON report. A test file that did not load counts as one
// failure, and a missing report as no tests.
//   node .ci/count-tests.mjs FILE
import { existsSync, readFileSync } from 'node:fs';

const file = process.argv[2];
const {
  numPassedTests = 0,
  numFailedTests = 0,
  testResults = [],
} = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const unloaded = testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some(test => test.status === 'failed'),
);
console.log(`${numPassedTests} ${numFailedTests + unloaded.length}`);
