import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const skipped = new Set(['node_modules', 'dist', 'fixtures', '.git', '.cache', '.changeset']);

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/**
 * The relative links of a page, as paths. Code blocks hold no links, and the site's tests check links like
 * `/api/`.
 */
function linksOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replace(/^```.*?^```/gms, '');
  return [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, link]) => link)
    .filter(link => !/^([a-z]+:|\/)/.test(link))
    .map(link => resolve(dirname(page), link));
}

const pages = markdownIn(root);

test('every relative link of a Markdown page leads to a file', () => {
  const dead = pages.flatMap(page =>
    linksOf(page)
      .filter(link => !existsSync(link))
      .map(link => `${relative(root, page)} -> ${relative(root, link)}`),
  );
  expect(dead).toEqual([]);
});

test('the README of a published package links only to files of the package', () => {
  const packages = join(root, 'packages');
  const outside = readdirSync(packages).flatMap(name => {
    const folder = join(packages, name);
    const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { files: string[] };
    return linksOf(join(folder, 'README.md'))
      .filter(link => !files.some(packed => `${relative(folder, link)}/`.startsWith(`${packed}/`)))
      .map(link => `packages/${name}/README.md -> ${relative(root, link)}`);
  });
  expect(outside).toEqual([]);
});

test('every path in the text of the documentation exists', () => {
  const named = ['architecture', 'extending', 'glossary', 'performance'].flatMap(page => {
    const text = readFileSync(join(root, 'docs', `${page}.md`), 'utf8').replace(/^```.*?^```/gms, '');
    return [...text.matchAll(/`((?:packages|apps|tools|examples|docs|scripts|fixtures)\/[^`\s*]+)`/g)].map(
      ([, path]) => `${page}.md: ${path}`,
    );
  });
  expect(named.filter(one => !existsSync(join(root, one.slice(one.indexOf(': ') + 2))))).toEqual([]);
});

test('every page that the README of a package names exists', () => {
  const named = readdirSync(join(root, 'packages')).flatMap(name => {
    const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
    return [...text.matchAll(/`(?:docs\/)?([\w/-]+\.md)`/g)].map(([, page]) => ({ name, page }));
  });
  expect(named.length).toBeGreaterThan(10);
  const folders = (name: string): string[] => ['docs', `packages/${name}`];
  expect(
    named.filter(({ name, page }) => !folders(name).some(folder => existsSync(join(root, folder, page)))),
  ).toEqual([]);
});

test('every test that the page about exports names exists', () => {
  const page = readFileSync(join(root, 'docs', 'pytorch-tests.md'), 'utf8');
  const tests = [...page.matchAll(/`([\w./-]+\.(?:test\.ts|py))`/g)].map(([, path]) => path);
  const bases = ['packages/graph/src/formats', 'packages', 'examples'];
  expect(tests.length).toBeGreaterThan(10);
  expect(tests.filter(path => !bases.some(base => existsSync(join(root, base, path))))).toEqual([]);
});
