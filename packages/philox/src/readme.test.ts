import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

test.each([
  ['in TypeScript', 'PhiloxStream'],
  ['in a shader', 'dropoutWgsl'],
])('the example %s runs', async (_, uses) => {
  const example = examples.find(code => code.includes(uses)) ?? '';
  expect(await run(`${example}\nconsole.log('ran');`)).toEqual(['ran']);
});
