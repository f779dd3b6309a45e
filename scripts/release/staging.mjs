import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { run } from '../run.mjs';

/**
 * Copies the built packages to a folder and gives them the versions and changelogs of the next release.
 * Returns the tarballs of the public packages, dependencies first.
 */
export function stageRelease(root, folder) {
  for (const file of ['package.json', 'pnpm-workspace.yaml', '.changeset', 'LICENSE'])
    cpSync(join(root, file), join(folder, file), { recursive: true });
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), 'packages:\n  - packages/*\npmOnFail: ignore\n');
  const names = readdirSync(join(root, 'packages'));
  for (const name of names) {
    cpSync(join(root, 'packages', name), join(folder, 'packages', name), {
      recursive: true,
      filter: path => !/\/node_modules(\/|$)/.test(path),
    });
    keepPublishedDependencies(join(folder, 'packages', name, 'package.json'));
  }
  for (const name of names) linkDependencies(folder, name);
  run(folder, 'git', ['init', '--quiet']);
  run(folder, 'git', ['add', '--all']);
  run(folder, 'git', [
    '-c',
    'user.name=release',
    '-c',
    'user.email=release@localhost',
    'commit',
    '--quiet',
    '-m',
    'Stage',
  ]);
  const changesets = createRequire(join(root, 'package.json')).resolve('@changesets/cli/bin.js');
  if (readdirSync(join(folder, '.changeset')).some(file => file.endsWith('.md')))
    run(folder, process.execPath, [changesets, 'version']);
  const tarballs = join(folder, 'tarballs');
  mkdirSync(tarballs);
  return names.map(name => {
    const own = join(folder, 'packages', name);
    const { version } = manifestOf(own);
    if (!existsSync(join(own, 'CHANGELOG.md'))) throw new Error(`packages/${name} has no changelog`);
    const before = new Set(readdirSync(tarballs));
    run(own, 'npx', ['--yes', 'pnpm@12', 'pack', '--pack-destination', tarballs]);
    const tarball = readdirSync(tarballs).find(file => !before.has(file));
    return { name: `@tilewise/${name}`, version, tarball: join(tarballs, tarball) };
  });
}

const manifestOf = folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Development dependencies are not staged, and are not part of a release. */
function keepPublishedDependencies(path) {
  const { devDependencies, ...manifest } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Replaces `workspace:^` by the version of the package that is found in `node_modules`. */
function linkDependencies(folder, name) {
  const own = join(folder, 'packages', name);
  mkdirSync(join(own, 'node_modules', '@tilewise'), { recursive: true });
  for (const dependency of Object.keys(manifestOf(own).dependencies ?? {}))
    symlinkSync(
      join(folder, 'packages', dependency.replace('@tilewise/', '')),
      join(own, 'node_modules', dependency),
    );
}
