import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));
const [functions, graph, gradients] = examples;

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(3);
});

test('the example of functions gives a loss and its gradient', async () => {
  expect(await run(functions)).toEqual([5, [-14, -20]]);
});

test('the example of a graph gives its partition, and the shapes of its results', async () => {
  expect(await run(graph)).toEqual(['sdpa-training', 4, [1, 2, 8, 4], [1, 2, 8, 1]]);
});

test('the example of gradients continues it', async () => {
  expect((await run(graph + gradients)).at(-1)).toEqual([1, 2, 8, 4]);
});
