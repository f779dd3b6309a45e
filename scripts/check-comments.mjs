// Checks that no line with a comment is wider than 110 columns, in all TypeScript and JavaScript files that
// git knows.
//   node scripts/check-comments.mjs [--write] [FOLDER...]     (--write wraps the comments that are too wide)
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { maxWidth, wideComments, wrapComments } from './checks/comments.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const write = process.argv.includes('--write');
const folders = process.argv.slice(2).filter(arg => !arg.startsWith('--'));
const list = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...folders], {
  cwd: root,
  encoding: 'utf8',
});
if (list.status !== 0) throw new Error(`git ls-files\n${list.stderr}`);
const sources = list.stdout.split('\n').filter(file => /\.(?:[cm]?[jt]s|tsx)$/.test(file));

let found = 0;
for (const file of sources) {
  const path = join(root, file);
  if (!existsSync(path)) continue;
  let text = readFileSync(path, 'utf8');
  if (write && wideComments(text).length > 0) {
    text = wrapComments(text);
    writeFileSync(path, text);
  }
  for (const line of wideComments(text)) {
    console.log(`${file}:${line}: the comment is wider than ${maxWidth} columns`);
    found++;
  }
}
if (found > 0) {
  console.log(`\n${found} lines. Wrap them with: node scripts/check-comments.mjs --write`);
  process.exit(1);
}
console.log(`No comment in ${sources.length} files is wider than ${maxWidth} columns.`);
