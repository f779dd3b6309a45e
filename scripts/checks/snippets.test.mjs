import { expect, test } from 'vitest';
import { packagesOf, snippetsOf } from './snippets.mjs';

test('snippets are the blocks of TypeScript, with what they continue', () => {
  const page = ['```ts', 'a;', '```', '```ts continued', 'b;', '```', '```js', 'c;', '```', ''].join('\n');
  expect(snippetsOf(page)).toEqual(['a;\n\nexport {};\n', 'a;\nb;\n\nexport {};\n']);
});

test('the packages of a snippet are told without their subpaths', () => {
  const code = "import { a } from '@tilewise/core/cpu';\nawait import('webgpu');\nimport b from './b.ts';";
  expect(packagesOf(code)).toEqual(['@tilewise/core', 'webgpu']);
});
