import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { packagesOf, pagesIn, snippetsOf } from './snippets.mjs';

test('the pages with examples are those of all folders, without the recipes', () => {
  const docs = fileURLToPath(new URL('../../docs', import.meta.url));
  const pages = pagesIn(docs).map(page => relative(docs, page));
  expect(pages).toEqual(expect.arrayContaining(['why.md', join('guide', 'attention', 'heads.md')]));
  expect(pages).not.toContain('extending.md');
});

test('snippets are the blocks of TypeScript, with what they continue', () => {
  const page = ['```ts', 'a;', '```', '```ts continued', 'b;', '```', '```js', 'c;', '```', ''].join('\n');
  expect(snippetsOf(page)).toEqual(['a;\n\nexport {};\n', 'a;\nb;\n\nexport {};\n']);
});

test('the packages of a snippet are told without their subpaths', () => {
  const code = "import { a } from '@tilewise/core/cpu';\nawait import('webgpu');\nimport b from './b.ts';";
  expect(packagesOf(code)).toEqual(['@tilewise/core', 'webgpu']);
});
