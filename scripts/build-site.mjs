// Builds the documentation site with the playground below it, as static files that any host can serve from
// any path. The playground links to the site above it and to the repository of `project.json`.
//   node scripts/build-site.mjs     (after a build of the packages)
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { placeholders, readProject } from './release/project-fields.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const missing = placeholders();
const { homepage, repository } = readProject();
const addresses = {
  VITE_DOCS_URL: '../',
  ...(!missing.includes('homepage') && { VITE_SITE_URL: `${homepage}/playground/` }),
  ...(!missing.includes('repository') && { VITE_REPOSITORY_URL: repository }),
};

pnpm(['--filter', '@tilewise/site', 'site']);
const place = ['--base=./', '--outDir=../docs/dist/playground', '--emptyOutDir'];
pnpm(['--filter', '@tilewise/playground', 'build', ...place], addresses);

function pnpm(args, env = {}) {
  const { status } = spawnSync('npx', ['--yes', 'pnpm@12', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exit(status ?? 1);
}
