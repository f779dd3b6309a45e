// Checks that a changeset announces the changes of each public package since its last release, and that the
// changesets and their configuration are valid. It needs no remote and no branch: a version is released if
// its tag exists, and the last release of a package is the commit that last set its version. The notes of a
// version that is not released yet are in a changeset or in the changelog.
//   node scripts/check-changesets.mjs
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import getReleasePlan from '@changesets/get-release-plan';

const root = fileURLToPath(new URL('..', import.meta.url));
// Reads, and so validates, the configuration and every changeset.
const { releases } = await getReleasePlan(root);
const missing = [];

for (const folder of readdirSync(join(root, 'packages'))) {
  const {
    name,
    version,
    private: isPrivate,
  } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
  if (isPrivate) continue;
  const changed = changesSinceRelease(folder, name, version);
  const release = releases.find(planned => planned.name === name && planned.changesets.length > 0);
  const next = release ? `${release.type}: ${release.oldVersion} -> ${release.newVersion}` : 'no changeset';
  console.log(`${name}  ${changed}  ${next}`);
  const hasNotes = changed === 'not released yet' && changelogOf(folder).includes(`\n## ${version}\n`);
  if (changed !== 'unchanged' && !release && !hasNotes) missing.push(name);
}
if (missing.length > 0) {
  console.log(
    `\nNo changeset for ${missing.join(', ')}. Describe the change with: npx --yes pnpm@12 changeset`,
  );
  process.exit(1);
}

function changelogOf(folder) {
  const path = join(root, 'packages', folder, 'CHANGELOG.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function changesSinceRelease(folder, name, version) {
  if (!git('tag', '--list', `${name}@${version}`)) return 'not released yet';
  const path = `packages/${folder}`;
  const release = git('log', '-1', '--format=%H', '-G"version":', '--', `${path}/package.json`);
  if (!release)
    throw new Error(`No commit sets the version of ${path}: the clone is too shallow to tell what changed.`);
  const published = [path, `:!${path}/CHANGELOG.md`, `:!${path}/**/*.test.ts`, `:!${path}/vitest.config.ts`];
  const files = git('diff', '--name-only', release, '--', ...published);
  return files ? `${files.split('\n').length} files changed since ${version}` : 'unchanged';
}

function git(...args) {
  const run = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`git ${args.join(' ')}\n${run.stderr}`);
  return run.stdout.trim();
}
