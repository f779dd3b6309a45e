// Prints the failed tests of a Vitest JSON report with the first lines of their errors, or, with --files, the
// files that contain them, relative to the current folder. A file that did not load counts as a failed test.
//   node .ci/failed-tests.mjs [--files] REPORT
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const LINES_OF_AN_ERROR = 15;
const [report, ...flags] = process.argv.slice(2).toReversed();
const { testResults = [] } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};

for (const { name, status, message, assertionResults } of testResults) {
  if (status !== 'failed') continue;
  const file = relative('.', name);
  if (flags.includes('--files')) {
    console.log(file);
    continue;
  }
  const tests = assertionResults.filter(test => test.status === 'failed');
  if (tests.length === 0) printFailure(`${file} did not load`, message);
  for (const test of tests) printFailure(`${file} > ${test.fullName}`, test.failureMessages.join('\n'));
}

function printFailure(title, message) {
  console.log(title);
  const lines = message.split('\n').filter(line => !line.includes('node_modules'));
  for (const line of lines.slice(0, LINES_OF_AN_ERROR)) console.log(`    ${line}`);
}
