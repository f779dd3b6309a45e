import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(10);
});

test.each(examples.map((code, n) => [n + 1, code]))('example %i of the README runs', async (_, code) => {
  expect(await run(String(code))).toEqual([]);
});
