import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openGpu } from '@tilewise/webgpu-host';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

beforeEach(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Runs an example as its reader would, on the sources, and gives what it logged. */
async function run(code: string): Promise<unknown[]> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['@tilewise/source'],
  });
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-readme-'));
  const file = join(folder, 'example.mjs');
  writeFileSync(file, outputFiles[0].text);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import(/* @vite-ignore */ pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return log.mock.calls.flat();
}

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(5);
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
