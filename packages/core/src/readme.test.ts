import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(3);
});

test.each(examples.map((code, n) => [n + 1, code]))('example %i of the README runs', async (_, code) => {
  // Fails unless the example runs and logs what its comments say.
  await expect(run(String(code))).resolves.toBeInstanceOf(Array);
});
