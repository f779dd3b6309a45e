import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The class `Graph` reads and writes oneDNN's JSON, and every format makes graphs. */
const accepted = ['packages/graph/src/formats and packages/graph/src/graph.ts'];

/** The first folder or file in which the paths differ, of each path: neighbours in one folder. */
function neighbours(from, to) {
  const [a, b] = [from.split(sep), to.split(sep)];
  const n = a.findIndex((name, d) => name !== b[d]) + 1;
  return [a.slice(0, n).join('/'), b.slice(0, n).join('/')];
}

/** Every import of a source by a relative path, as the neighbours that the import joins. */
const imports = ['packages', 'apps', 'tools']
  .flatMap(folder => readdirSync(join(root, folder)).map(name => join(folder, name, 'src')))
  .filter(folder => existsSync(join(root, folder)))
  .flatMap(folder => readdirSync(join(root, folder), { recursive: true }).map(path => join(folder, path)))
  .filter(path => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .flatMap(path => {
    const text = readFileSync(join(root, path), 'utf8');
    const targets = [...text.matchAll(/\b(?:from|import\() ?'(\.[^']+)'/g)].map(([, target]) => target);
    return targets.map(target => neighbours(path, join(dirname(path), target)));
  });

test('of two folders or files in one folder, at most one imports the other', () => {
  const joined = new Set(imports.map(([from, to]) => `${from} and ${to}`));
  const both = [...joined].filter(pair => {
    const [from = '', to = ''] = pair.split(' and ');
    return from < to && joined.has(`${to} and ${from}`);
  });
  expect(imports.length).toBeGreaterThan(3000);
  expect(both.sort()).toEqual(accepted);
});
