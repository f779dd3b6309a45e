import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { readmeExamples } from './index.ts';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

test('the blocks of code are the examples', () => {
  expect(examples).toHaveLength(1);
  expect(examples[0]).toContain('readmeExamples(new URL(');
});

test('a continued block begins with the block before it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-examples-'));
  try {
    const page = join(folder, 'page.md');
    writeFileSync(
      page,
      '```ts\nconst a = 1;\n```\n\n```sh\nls\n```\n\n```ts continued\nconsole.log(a);\n```\n',
    );
    expect(readmeExamples(pathToFileURL(page)).examples).toEqual([
      'const a = 1;\n',
      'const a = 1;\nconsole.log(a);\n',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('run returns what an example logs, and fails where the example fails', async () => {
  const { log } = console;
  expect(await run("const n: number = 2;\nconsole.log(n, 'two');\nconsole.log([n]);")).toEqual([
    2,
    'two',
    [2],
  ]);
  await expect(run("throw new Error('not so');")).rejects.toThrow('not so');
  await expect(run('const = 2;')).rejects.toThrow('Build failed');
  expect(console.log).toBe(log);
});

test('a log must equal the comment after it', async () => {
  await run("console.log([1, 2], 'three'); // => [1, 2] three");
  await run('console.log(Math.PI); // => 3.14…');
  await run('console.log(1); // a comment of another kind');
  await expect(run('console.log([1, 2]); // => [1, 3]')).rejects.toThrow(
    'The example logs [ 1, 2 ]; the page says [1, 3]',
  );
  await expect(run('console.log(3.2); // => 3.14…')).rejects.toThrow('The example logs 3.2');
});

test('packages outside the workspace are imported as installed', async () => {
  await run("import { build } from 'esbuild';\nconsole.log(typeof build); // => function");
});
