// Runs the packages, as they would be published, in every runtime, browser context, bundler and TypeScript
// that the documentation names, and writes the documentation's table.
//   node scripts/runtimes/main.mjs [--write] [--only NAME,…] [--keep]     (after a build)
// --only runs the checks whose first column contains a name; with --write too, the other rows of the table do
// not change. --keep leaves the working folder for a look.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stageRelease } from '../release/staging.mjs';
import { run } from '../run.mjs';
import { browserChecks } from './browsers.mjs';
import { bundlerChecks } from './bundlers.mjs';
import { firefoxChecks } from './firefox.mjs';
import { processChecks } from './processes.mjs';
import { typescriptChecks } from './typescript.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'tilewise-runtimes-'));
const only = process.argv.includes('--only')
  ? process.argv[process.argv.indexOf('--only') + 1].split(',')
  : undefined;
const table = join(root, 'docs', 'runtimes.md');
const rows = [];
let failed = 0;
let passed = 0;
// The current content of the table.
const results = new Map(
  readFileSync(table, 'utf8')
    .split('\n')
    .map(line => line.split(' | '))
    .map(([where, what, result]) => [`${where.slice(2)}, ${what}`, result?.slice(0, -2)]),
);
try {
  const project = installed();
  for (const { where, what, run: check } of [
    ...processChecks(project),
    ...browserChecks(project),
    ...firefoxChecks(project),
    ...bundlerChecks(project),
    ...typescriptChecks(project),
  ]) {
    if (only && !only.some(name => where.toLowerCase().includes(name.toLowerCase()))) {
      const before = results.get(`${where}, ${what}`);
      if (before) rows.push([where, what, before]);
      continue;
    }
    let result;
    try {
      result = (await check()) ?? 'ok';
    } catch (error) {
      result = 'FAILED';
      failed++;
      console.log(String(error.message ?? error).slice(0, 2000));
    }
    rows.push([where, what, result]);
    // A runtime's version comes before what it says.
    const isSkipped = /^(\S+: )?not run/.test(result);
    if (result !== 'FAILED' && !isSkipped) passed++;
    console.log(
      `${result === 'FAILED' ? 'FAIL' : isSkipped ? 'skip' : 'ok  '}  ${where}: ${what}: ${result}`,
    );
  }
} finally {
  if (process.argv.includes('--keep')) console.log(`Kept ${work}`);
  else rmSync(work, { recursive: true, force: true });
}
if (process.argv.includes('--write') && failed === 0) writeFileSync(table, page());
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** A project that has the packed packages installed. */
function installed() {
  const project = join(work, 'project');
  mkdirSync(project, { recursive: true });
  const packed = stageRelease(root, join(work, 'staged'));
  const tarballs = Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`]));
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: tarballs, overrides: tarballs }),
  );
  cpSync(new URL('programs', import.meta.url), project, { recursive: true });
  install(project);
  return { folder: project, add: (...names) => install(project, ...names) };
}

function install(project, ...names) {
  run(project, 'npm', [
    ...['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--loglevel=error', '--force'],
    ...names,
  ]);
}

function page() {
  const line = cells => `| ${cells.join(' | ')} |`;
  const intro = readFileSync(new URL('runtimes-intro.md', import.meta.url), 'utf8');
  return [
    intro.trimEnd(),
    '',
    line(['where', 'what ran', 'result']),
    '|---|---|---|',
    ...rows.map(line),
    '',
  ].join('\n');
}
