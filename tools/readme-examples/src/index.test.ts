import { expect, test } from 'vitest';
import { readmeExamples } from './index.ts';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

test('the blocks of code are the examples', () => {
  expect(examples).toHaveLength(1);
  expect(examples[0]).toContain('readmeExamples(new URL(');
});

test('an example gives what it logs, and one that fails fails', async () => {
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
