// Publishes the packages, or does everything except that.
//   pnpm release             publishes the packages to which `changeset version` has given a new version
//   pnpm release --dry-run   versions and packs a copy, publishes it to a local registry, installs from
//                            there as a user does, and runs the examples of the READMEs; --keep leaves the
//                            working folder for a look
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { packagesOf, snippetsOf } from '../checks/snippets.mjs';
import { run } from '../run.mjs';
import { startRegistry } from './local-registry.mjs';
import { outdatedManifests, placeholders } from './project-fields.mjs';
import { stageRelease } from './staging.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Gives Node the `navigator.gpu` that a browser has.
const gpuForNode = new URL('gpu-for-node.mjs', import.meta.url).href;
const isDryRun = process.argv.includes('--dry-run');

const missing = placeholders();
if (missing.length > 0) {
  console.log(`project.json has placeholders for ${missing.join(', ')}: a release needs the real addresses.`);
  if (!isDryRun) process.exit(1);
}
const outdated = outdatedManifests(false);
if (outdated.length > 0) {
  console.log(`Run node scripts/release/project-fields.mjs --write: ${outdated.join(', ')} are out of date.`);
  process.exit(1);
}
const outdatedPages = pagesBeforeNpm();
if (outdatedPages.length > 0) {
  console.log(`These files say that the packages are not on npm yet: ${outdatedPages.join(', ')}.`);
  if (!isDryRun) process.exit(1);
}
if (isDryRun) await dryRun();
else process.exit(spawnSync('pnpm', ['changeset', 'publish'], { cwd: root, stdio: 'inherit' }).status ?? 1);

/** The files that say that the packages are not on npm yet, which a release makes untrue. */
function pagesBeforeNpm() {
  const sentence = 'not on npm yet|noch nicht auf npm';
  const { stdout } = spawnSync(
    'git',
    ['grep', '-lE', sentence, '--', 'README.md', 'docs', 'apps/playground/src'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return stdout.split('\n').filter(Boolean);
}

async function dryRun() {
  const work = mkdtempSync(join(tmpdir(), 'tilewise-release-'));
  let registry;
  try {
    const packages = stageRelease(root, join(work, 'staged'));
    registry = await startRegistry(join(work, 'registry'));
    for (const { name, version, tarball } of packages) {
      registry.publish(tarball);
      console.log(`ok    ${name}@${version} is packed and published to the local registry`);
    }
    for (const { name } of packages) await tryAsUser(name, join(work, 'users'), registry);
    console.log('\nThe release can be published.');
  } finally {
    registry?.stop();
    if (process.argv.includes('--keep')) console.log(`Kept ${work}`);
    else rmSync(work, { recursive: true, force: true });
  }
}

/** Installs a package with the dependencies that its README names, and runs the README's examples. */
async function tryAsUser(name, folder, registry) {
  const short = name.replace('@tilewise/', '');
  const project = join(folder, short);
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(project, '.npmrc'), registry.npmrc);
  const readme = readFileSync(join(root, 'packages', short, 'README.md'), 'utf8');
  // An example that needs a model of the reader has its own test.
  const typescript = snippetsOf(readme);
  const all = typescript.length > 0 ? typescript : snippetsOf(readme.replaceAll('```js\n', '```ts\n'));
  const snippets = all.filter(code => !code.includes("folderFiles('"));
  const imported = [...new Set([name, ...snippets.flatMap(packagesOf)])];
  const started = performance.now();
  run(project, 'npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...imported,
  ]);
  for (const [n, code] of snippets.entries()) {
    const { code: script } = await transform(code, { loader: 'ts', format: 'esm', target: 'es2022' });
    writeFileSync(join(project, `example-${n + 1}.mjs`), `import ${JSON.stringify(gpuForNode)};\n${script}`);
    run(project, process.execPath, [`example-${n + 1}.mjs`]);
    if (n === 0) {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(
        `ok    npm install ${imported.join(' ')}, and the first example of the README: ${seconds} s`,
      );
    }
  }
  console.log(`ok    ${name}: ${snippets.length} examples of the README run`);
}
