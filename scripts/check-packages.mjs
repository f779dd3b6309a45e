// Checks each public package as its users will get it: packed, on its own, from a tarball.
//   node scripts/check-packages.mjs [--keep]     (after a build; --keep leaves the working folder for a look)
// For each package: publint and are-the-types-wrong on the tarball, an install into an empty project with
// nothing but the packages below it, an import of every subpath in Node, a browser bundle of every subpath, a
// strict type check without skipLibCheck (of every subpath, and of the callers in checks/consumers), and
// the bundle budgets of checks/bundle-budgets.mjs.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { bundleBudgets } from './checks/bundle-budgets.mjs';
import { bundleSize } from './checks/bundle-size.mjs';
import { install, pack, publicPackages } from './checks/packed/packages.mjs';
import { checkExamples, checkTypes, typeCheck } from './checks/packed/types.mjs';
import { run } from './run.mjs';

const work = mkdtempSync(join(tmpdir(), 'tilewise-packages-'));
const failures = [];
const sizes = [];

try {
  const packages = publicPackages();
  for (const pkg of packages) pkg.tarball = pack(pkg, work);
  for (const pkg of packages) {
    await check(pkg, 'publint', () => lintTarball(pkg));
    await check(pkg, 'types', () => checkTypes(pkg));
    const project = join(work, pkg.folder);
    if (!(await check(pkg, 'install', () => install(pkg, project, packages)))) continue;
    await check(pkg, 'import in Node', () => importAll(pkg, project));
    await check(pkg, 'bundle for browsers', () => bundleAll(pkg, project));
    await check(pkg, 'type check', () => typeCheck(pkg, project));
    await check(pkg, 'examples in TypeScript 5.9 and 7', () => checkExamples(pkg, project));
    await check(pkg, 'bundle budgets', () => keepBudgets(pkg, project));
  }
  printSizes();
} finally {
  if (process.argv.includes('--keep')) console.log(`\nKept ${work}`);
  else rmSync(work, { recursive: true, force: true });
}
if (failures.length > 0) {
  console.log(
    `\n${failures.length} package ${failures.length === 1 ? 'check' : 'checks'} failed: ${failures.join('; ')}`,
  );
  process.exit(1);
}
console.log('\nAll package checks passed.');

async function check(pkg, name, step) {
  try {
    await step();
    console.log(`ok    ${pkg.name}  ${name}`);
    return true;
  } catch (error) {
    failures.push(`${pkg.name} ${name}`);
    console.log(`FAIL  ${pkg.name}  ${name}\n${String(error.message ?? error).replace(/^/gm, '      ')}`);
    return false;
  }
}

async function lintTarball({ tarball }) {
  const data = readFileSync(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: exactBuffer(data) }, strict: true });
  const found = messages.map(message => `${message.type}: ${formatMessage(message, pkg, { color: false })}`);
  if (found.length > 0) throw new Error(found.join('\n'));
}

function importAll({ subpaths }, project) {
  for (const subpath of subpaths) {
    const code = `const names = Object.keys(await import('${subpath}')); if (names.length === 0) throw new Error('exports nothing')`;
    run(project, process.execPath, ['--input-type=module', '-e', code]);
  }
}

async function bundleAll({ subpaths, name }, project) {
  for (const subpath of subpaths) {
    sizes.push({
      package: name,
      entry: subpath,
      ...(await bundleSize(`export * from '${subpath}'`, project)),
    });
  }
}

async function keepBudgets({ name }, project) {
  const broken = [];
  for (const budget of bundleBudgets.filter(candidate => candidate.package === name)) {
    const size = await bundleSize(budget.entry, project);
    sizes.push({ ...budget, ...size });
    if (size.gzip > budget.limit) broken.push(`${budget.entry}: ${size.gzip} B of ${budget.limit} B`);
    for (const [chunk, gzip] of Object.entries(size.dynamic)) {
      const limit = budget.dynamic?.[chunk] ?? 0;
      if (gzip > limit) broken.push(`${budget.entry}, chunk ${chunk}: ${gzip} B of ${limit} B`);
    }
  }
  if (broken.length > 0) throw new Error(broken.join('\n'));
}

function printSizes() {
  const rows = sizes.map(({ entry, minified, gzip, limit }) => [
    entry,
    `${minified}`,
    `${gzip}`,
    limit ? `${limit}` : '',
  ]);
  const table = [['bundle', 'minified B', 'gzip B', 'limit B'], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map(row => row[column].length)));
  console.log('');
  for (const [entry, ...numbers] of table) {
    console.log(
      [entry.padEnd(widths[0]), ...numbers.map((text, i) => text.padStart(widths[i + 1]))].join('  '),
    );
  }
}

function exactBuffer(data) {
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
}
