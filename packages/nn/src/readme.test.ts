import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

test('the first example reads what it wrote', async () => {
  expect(await run(examples[0])).toEqual(['weight', 'f16', [2, 2]]);
});
