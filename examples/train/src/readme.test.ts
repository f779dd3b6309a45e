import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

test('the example of the README trains and generates text', async () => {
  const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));
  const logged = await run(examples[0]);
  const losses = logged.slice(0, 20).map(Number);
  expect(losses[19]).toBeLessThan(losses[0]);
  expect(logged.slice(20).join('')).toHaveLength(20);
});
