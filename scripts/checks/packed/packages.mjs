import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../run.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The published packages, each after its dependencies. */
export function publicPackages() {
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

/** Packs a package into the working folder; returns the path of its tarball. */
export function pack(pkg, work) {
  const folder = join(work, 'tarballs', pkg.folder);
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--pack-destination', folder];
  // Inside a pnpm script, pnpm is on the path; otherwise it may not be.
  const cwd = join(root, 'packages', pkg.folder);
  if (spawnSync('pnpm', ['--version']).status === 0) run(cwd, 'pnpm', args);
  else run(cwd, 'npx', ['--yes', 'pnpm@12', ...args]);
  const [tarball] = readdirSync(folder);
  return join(folder, tarball);
}

/** Installs a package from its tarball, with the packages below it, in an empty project. */
export function install(pkg, project, packages) {
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
  run(project, 'npm', [
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
