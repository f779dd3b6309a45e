// Checks the titles of changesets, and of the commits since a recorded one: at most 72 characters, in the
// imperative.
//   node scripts/check-titles.mjs
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changesetTitle, titleFaults } from './checks/titles.mjs';

/** The last commit from before the rule. */
const base = '9752a24aa31856a343bf7c845bb07eb83d223d1c';

const root = fileURLToPath(new URL('..', import.meta.url));
const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });

const titles = [];
const log = git('log', '--no-merges', '--format=%h%x09%s', `${base}..HEAD`);
if (log.status === 0) {
  for (const line of log.stdout.split('\n').filter(Boolean)) {
    const [hash, title] = line.split('\t');
    titles.push({ where: `commit ${hash}`, title });
  }
} else {
  console.log(`Commit ${base} is not in this clone: the titles of commits are not checked.`);
}
const folder = join(root, '.changeset');
for (const file of readdirSync(folder)) {
  if (!file.endsWith('.md') || file === 'README.md') continue;
  titles.push({
    where: `.changeset/${file}`,
    title: changesetTitle(readFileSync(join(folder, file), 'utf8')),
  });
}

const faults = titles.flatMap(({ where, title }) =>
  titleFaults(title).map(fault => `${where}: the title ${fault}: ${title}`),
);
for (const fault of faults) console.log(fault);
if (faults.length > 0) process.exit(1);
console.log(`${titles.length} titles of commits and changesets are right.`);
