import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compilerErrors, readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The Markdown pages whose examples use the packages alone. `extending.md` has changes to the packages. */
const pages = [
  'README.md',
  ...readdirSync(join(root, 'packages')).map(name => join('packages', name, 'README.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.md') && !path.startsWith('node_modules') && path !== 'extending.md')
    .map(path => join('docs', path)),
];

test('the TypeScript compiler accepts every example in TypeScript, in strict mode', () => {
  const modules = new Map(
    pages.flatMap(page =>
      readmeExamples(pathToFileURL(join(root, page))).inTypeScript.map((code, n) => [
        `${page.replace(/\W/g, '-')}-${n + 1}`,
        code,
      ]),
    ),
  );
  expect(modules.size).toBeGreaterThan(50);
  expect(compilerErrors(modules, fileURLToPath(new URL('..', import.meta.url)), ['node'])).toBe('');
});
