import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openGpu } from './open-gpu.ts';
import { isSwiftShaderPackaged } from './vulkan/swiftshader.ts';

const before = process.env.TILEWISE_ADAPTER;
beforeEach(() => {
  delete process.env.TILEWISE_ADAPTER;
});
afterEach(() => {
  if (before === undefined) delete process.env.TILEWISE_ADAPTER;
  else process.env.TILEWISE_ADAPTER = before;
});

describe('TILEWISE_ADAPTER', () => {
  test.runIf(isSwiftShaderPackaged())(
    'swiftshader takes precedence over any GPU of the machine',
    async () => {
      process.env.TILEWISE_ADAPTER = 'swiftshader';
      const host = await openGpu();
      expect(host.description).toMatch(/swiftshader/i);
      expect(host.kind).toBe('software');
      expect(host.source).toContain('TILEWISE_ADAPTER=swiftshader');
    },
  );

  test.runIf(isSwiftShaderPackaged())('hardware never accepts a CPU as a GPU', async () => {
    process.env.TILEWISE_ADAPTER = 'swiftshader';
    // Leaves SwiftShader as the only driver that this process can find.
    await openGpu();
    process.env.TILEWISE_ADAPTER = 'hardware';
    await expect(openGpu()).rejects.toThrow(/No WebGPU adapter.*only SwiftShader/s);
  });

  test('null opens the null backend', async () => {
    process.env.TILEWISE_ADAPTER = 'null';
    expect((await openGpu()).kind).toBe('null');
  });

  test('a path that is not a file is an error that lists the choices', async () => {
    process.env.TILEWISE_ADAPTER = 'no-such-driver.json';
    await expect(openGpu()).rejects.toThrow(/no-such-driver\.json.*hardware, swiftshader, lavapipe/s);
  });
});
