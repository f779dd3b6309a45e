import { readFileSync } from 'node:fs';
import { readmeExamples } from '@tilewise/readme-examples';
import { openGpu } from '@tilewise/webgpu-host';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const readme = new URL('../README.md', import.meta.url);
const { examples, run } = readmeExamples(readme);
const root = readmeExamples(new URL('../../../README.md', import.meta.url));

beforeEach(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test('the examples of the README run and log what they say', async () => {
  expect(examples).toHaveLength(2);
  for (const example of examples) await run(example);
});

test('the first example begins within the first 25 lines, and the README has at most 120', () => {
  const lines = readFileSync(readme, 'utf8').split('\n');
  expect(lines.indexOf('```', lines.indexOf('```ts') + 1)).toBeLessThan(25);
  expect(lines.length - 1).toBeLessThanOrEqual(120);
});

test('the example of plans records work that the device accepts', async () => {
  // The example makes its own device; this wrapper watches it for errors.
  let error: Promise<GPUError | null> | undefined;
  const { gpu } = await openGpu({ backend: 'null' });
  const requestAdapter = async () => {
    const adapter = await gpu.requestAdapter();
    const requestDevice = async () => {
      const device = await adapter?.requestDevice();
      if (!device) throw new Error('the adapter gave no device');
      device.pushErrorScope('validation');
      const submit = device.queue.submit.bind(device.queue);
      device.queue.submit = commands => {
        submit(commands);
        error = device.popErrorScope();
      };
      return device;
    };
    return { requestDevice };
  };
  vi.stubGlobal('navigator', { gpu: { requestAdapter } });
  const plans = readmeExamples(new URL('../../../docs/guide/webgpu/plans.md', import.meta.url));
  await plans.run(plans.examples[0]);
  expect(await error).toBeNull();
});

test('the example of the README of the repository gives a gradient', async () => {
  const [dq] = await run(root.examples[0]);
  expect((dq as Float32Array).some(x => x !== 0)).toBe(true);
});
