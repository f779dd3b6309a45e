import { readmeExamples } from '@tilewise/readme-examples';
import { openGpu } from '@tilewise/webgpu-host';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));

const root = readmeExamples(new URL('../../../README.md', import.meta.url));

beforeEach(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(7);
});

test('the eager example gives a gradient', async () => {
  const [dk] = await run(examples[0]);
  expect(dk).toHaveLength(2 * 64 * 32);
  const values = [...(dk as Float32Array)];
  expect(values.every(Number.isFinite)).toBe(true);
  expect(values.some(x => x !== 0)).toBe(true);
});

test('the example of forward with its backward to come runs', async () => {
  expect(examples[1]).toContain('sdpaVjp');
  await run(examples[1]);
});

test('the example of plans records work that the device accepts', async () => {
  // The example makes its device itself: this one watches it.
  let device: GPUDevice | undefined;
  const { gpu } = navigator;
  const requestAdapter = async () => {
    const adapter = await gpu.requestAdapter();
    const requestDevice = async () => {
      device = await adapter?.requestDevice();
      device?.pushErrorScope('validation');
      return device;
    };
    return { requestDevice };
  };
  vi.stubGlobal('navigator', { gpu: { requestAdapter } });
  await run(examples[2]);
  if (!device) throw new Error('the example asked for no device');
  expect(await device.popErrorScope()).toBeNull();
  await device.queue.onSubmittedWorkDone();
});

test('the example of matrices runs on devices without them', async () => {
  expect(examples[3]).toContain('matrixTiles');
  expect(await run(examples[3])).toEqual([expect.any(Array)]);
});

test('the example of tuning times a tile, which a later context takes', async () => {
  // What is compiled for nothing runs at once.
  const { gpu } = await openGpu({ backend: 'null' });
  vi.stubGlobal('navigator', { gpu });
  const [timing] = await run(examples[4]);
  expect(timing).toMatchObject({ role: 'forward', tile: expect.any(Object), ms: expect.any(Number) });
});

test('the example of Node makes a context', async () => {
  expect(examples[5]).toContain("from 'webgpu'");
  const code = `${examples[5]}\nconsole.log(ctx.capabilities.features);\nctx.destroy();`;
  expect(await run(code)).toEqual([expect.any(Array)]);
});

test('the example of the doctor logs a verdict', async () => {
  expect(examples[6]).toContain('diagnose()');
  // Whether it is right does not matter here.
  const { gpu } = await openGpu({ backend: 'null' });
  vi.stubGlobal('navigator', { gpu });
  expect(await run(examples[6])).toEqual([expect.stringContaining('Verdict')]);
});

test('the example of the README of the repository gives a gradient', async () => {
  const [dq] = await run(root.examples[0]);
  expect((dq as Float32Array).some(x => x !== 0)).toBe(true);
});
