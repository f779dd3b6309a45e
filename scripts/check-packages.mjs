// Checks each public package as its users will get it: packed, on its own, from a tarball.
//   node scripts/check-packages.mjs [--keep]     (after a build; --keep leaves the working folder for a look)
// For each package: publint and are-the-types-wrong on the tarball, an install into an empty project with
// nothing but the packages below it, an import of every subpath in Node, a browser bundle of every subpath, a
// strict type check without skipLibCheck (of every subpath, and of the callers in checks/consumers), and
// the bundle budgets of checks/bundle-budgets.mjs.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { bundleBudgets } from './checks/bundle-budgets.mjs';
import { bundleSize } from './checks/bundle-size.mjs';
import { packagesOf, pagesIn, snippetsOf } from './checks/snippets.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compilerOf = name =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'tsc');
const [tsc, tsc59] = ['typescript', 'typescript-5.9'].map(compilerOf);
const work = mkdtempSync(join(tmpdir(), 'tilewise-packages-'));
const failures = [];
const sizes = [];

try {
  const packages = publicPackages();
  for (const pkg of packages) pkg.tarball = pack(pkg);
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

async function check(pkg, name, run) {
  try {
    await run();
    console.log(`ok    ${pkg.name}  ${name}`);
    return true;
  } catch (error) {
    failures.push(`${pkg.name} ${name}`);
    console.log(`FAIL  ${pkg.name}  ${name}\n${String(error.message ?? error).replace(/^/gm, '      ')}`);
    return false;
  }
}

/** The published packages, each after its dependencies. */
function publicPackages() {
  const all = readdirSync(join(root, 'packages'))
    .map(folder => {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
      const subpaths = Object.keys(manifest.exports)
        .filter(key => !key.endsWith('.json'))
        .map(key => manifest.name + key.slice(1));
      return { folder, name: manifest.name, private: manifest.private, manifest, subpaths };
    })
    .filter(pkg => !pkg.private);
  const sorted = [];
  const visit = pkg => {
    if (sorted.includes(pkg)) return;
    for (const name of Object.keys(pkg.manifest.dependencies ?? {})) {
      const below = all.find(other => other.name === name);
      if (below) visit(below);
    }
    sorted.push(pkg);
  };
  all.forEach(visit);
  return sorted;
}

function pack(pkg) {
  const folder = join(work, 'tarballs', pkg.folder);
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--pack-destination', folder];
  // Inside a pnpm script, pnpm is on the path; otherwise it may not be.
  const cwd = join(root, 'packages', pkg.folder);
  if (spawnSync('pnpm', ['--version']).status === 0) runIn(cwd, 'pnpm', args);
  else runIn(cwd, 'npx', ['--yes', 'pnpm@12', ...args]);
  const [tarball] = readdirSync(folder);
  return join(folder, tarball);
}

async function lintTarball({ tarball }) {
  const data = readFileSync(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: exactBuffer(data) }, strict: true });
  const found = messages.map(message => `${message.type}: ${formatMessage(message, pkg, { color: false })}`);
  if (found.length > 0) throw new Error(found.join('\n'));
}

async function checkTypes({ tarball }) {
  const { types, problems = [] } = await checkPackage(
    createPackageFromTarballData(new Uint8Array(readFileSync(tarball))),
  );
  if (!types) throw new Error('The package has no types.');
  // The packages are ES modules: CommonJS resolution, and resolvers that do not know "exports", are not
  // supported.
  const found = problems.filter(({ resolutionKind }) => !['node10', 'node16-cjs'].includes(resolutionKind));
  if (found.length > 0) throw new Error(found.map(problem => JSON.stringify(problem)).join('\n'));
}

function install(pkg, project, packages) {
  mkdirSync(project);
  const tarballOf = ({ tarball }) => `file:${tarball}`;
  const below = packages.slice(0, packages.indexOf(pkg)).filter(other => dependsOn(pkg, other, packages));
  const manifest = {
    private: true,
    type: 'module',
    // Subpaths that need an optional peer are imported and bundled together with the peer.
    dependencies: { [pkg.name]: tarballOf(pkg), ...pkg.manifest.peerDependencies },
    overrides: Object.fromEntries(below.map(other => [other.name, tarballOf(other)])),
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  runIn(project, 'npm', [
    'install',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  const installed = JSON.parse(readFileSync(join(project, 'node_modules', pkg.name, 'package.json'), 'utf8'));
  const ranges = Object.values({ ...installed.dependencies, ...installed.peerDependencies });
  if (ranges.some(range => range.startsWith('workspace:'))) {
    throw new Error(`The tarball depends on the workspace: ${ranges.join(', ')}`);
  }
}

function dependsOn(pkg, other, packages) {
  const direct = Object.keys(pkg.manifest.dependencies ?? {});
  return (
    direct.includes(other.name) ||
    packages.some(mid => direct.includes(mid.name) && dependsOn(mid, other, packages))
  );
}

function importAll({ subpaths }, project) {
  for (const subpath of subpaths) {
    const code = `const names = Object.keys(await import('${subpath}')); if (names.length === 0) throw new Error('exports nothing')`;
    runIn(project, process.execPath, ['--input-type=module', '-e', code]);
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

/**
 * Type-checks the examples of the package's README, and those examples of the site that import only the
 * package and what is installed with it, with the two TypeScript versions and the `module` settings that the
 * documentation names.
 */
function checkExamples({ folder, name }, project) {
  const isInstalled = other => existsSync(join(project, 'node_modules', other));
  const own = snippetsOf(readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8'));
  const guides = pagesIn(join(root, 'docs'))
    .flatMap(page => snippetsOf(readFileSync(page, 'utf8')))
    .filter(code => packagesOf(code).includes(name));
  const files = [...own, ...guides]
    .filter(code => packagesOf(code).every(isInstalled))
    .map((code, n) => {
      const file = `example-${n}.ts`;
      writeFileSync(join(project, file), code);
      return file;
    });
  if (files.length === 0) return;
  for (const types of ['@webgpu/types', '@types/node']) {
    const place = join(project, 'node_modules', types);
    if (existsSync(place)) continue;
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(realpathSync(join(root, 'node_modules', types)), place);
  }
  const settings = [
    { compiler: tsc, types: ['node'], module: 'nodenext' },
    { compiler: tsc, types: ['node'], module: 'esnext', moduleResolution: 'bundler' },
    { compiler: tsc59, types: ['node', '@webgpu/types'], module: 'nodenext' },
    { compiler: tsc59, types: ['node', '@webgpu/types'], module: 'preserve' },
  ];
  for (const { compiler, ...chosen } of settings) {
    // The strict options that `tsc --init` writes.
    const strict = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true };
    const common = { target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], ...strict, noEmit: true };
    const compilerOptions = { ...common, ...chosen, skipLibCheck: true, preserveSymlinks: true };
    writeFileSync(join(project, 'tsconfig.examples.json'), JSON.stringify({ compilerOptions, files }));
    runIn(project, process.execPath, [compiler, '-p', 'tsconfig.examples.json']);
  }
}

function typeCheck({ folder, subpaths }, project) {
  const lines = subpaths.map(
    (subpath, i) =>
      `import * as m${i} from '${subpath}';\nexport const names${i}: string[] = Object.keys(m${i});`,
  );
  writeFileSync(join(project, 'subpaths.ts'), `${lines.join('\n')}\n`);
  const consumers = ['optional.ts', `${folder}.ts`];
  for (const name of consumers)
    copyFileSync(join(root, 'scripts', 'checks', 'consumers', name), join(project, name));
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const files = ['subpaths.ts', ...consumers];
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  runIn(project, process.execPath, [tsc, '-p', 'tsconfig.json']);
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

function runIn(cwd, command, args) {
  const run = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (run.error) throw run.error;
  if (run.status !== 0) throw new Error(`${command} ${args.join(' ')}\n${run.stdout}${run.stderr}`);
}

function exactBuffer(data) {
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
}
