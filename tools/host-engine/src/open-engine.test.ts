import { afterEach, expect, test, vi } from 'vitest';
import { openEngine } from './open-engine.ts';

const openGpu = vi.hoisted(() => vi.fn());
vi.mock('@tilewise/webgpu-host', () => ({ openGpu }));
afterEach(() => openGpu.mockReset());

test('a software adapter is not taken for a GPU', async () => {
  openGpu.mockResolvedValue({ kind: 'software', description: 'SwiftShader' });
  const { name, reason } = await openEngine();
  expect(name).toBe('cpu');
  expect(reason).toBe('because there is no GPU (WebGPU would run on SwiftShader)');
});

test('a machine without WebGPU runs on the CPU', async () => {
  openGpu.mockRejectedValue(new Error('No WebGPU adapter. Tried:\n  - everything'));
  const { name, reason } = await openEngine();
  expect(name).toBe('cpu');
  expect(reason).toBe('because there is no GPU (No WebGPU adapter)');
});

test('an engine that is named is opened without a search', async () => {
  const { name, reason } = await openEngine('reference');
  expect([name, reason]).toEqual(['reference', 'as asked']);
  expect(openGpu).not.toHaveBeenCalled();
});

test('a missing WebGPU that was requested is an error', async () => {
  openGpu.mockRejectedValue(new Error('No WebGPU adapter.'));
  await expect(openEngine('webgpu')).rejects.toThrow('No WebGPU adapter.');
  openGpu.mockResolvedValue({ kind: 'null', description: "Dawn's null backend" });
  await expect(openEngine('webgpu')).rejects.toThrow('computes nothing');
});
