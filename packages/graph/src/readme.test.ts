import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';
// Says where onnxruntime's own WebAssembly is.
import '../testing/onnx-session.ts';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));
const [first, functions, gradients, cudnn, d256, onnx] = examples;

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(6);
});

test('the example of a graph gives its partition, and the shapes of its results', async () => {
  expect(await run(first)).toEqual(['sdpa-training', 4, [1, 2, 8, 4], [1, 2, 8, 1]]);
});

test('the example of functions gives a loss and its gradient', async () => {
  expect(await run(functions)).toEqual([5, [-14, -20]]);
});

test('the example of gradients goes on with it', async () => {
  expect((await run(first + gradients)).at(-1)).toEqual([1, 2, 8, 4]);
});

test("the example of cuDNN's node gives one partition", async () => {
  expect(await run(cudnn)).toEqual(['sdpa-training', expect.any(Array)]);
});

test('the example for heads of 256 runs', async () => {
  expect(await run(`${d256}\nconsole.log(dq.shape, dV.shape);`)).toEqual([
    [1, 2, 8, 256],
    [1, 2, 8, 256],
  ]);
});

test('the example of ONNX runs in onnxruntime', async () => {
  expect(await run(onnx)).toEqual([[1, 2, 8, 4]]);
});
