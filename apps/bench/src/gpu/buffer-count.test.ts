import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { countBuffers } from './buffer-count.ts';
import { usage } from './usage.ts';

test('the peak is the most memory that existed at one time', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  const count = countBuffers(device);
  const make = (size: number): GPUBuffer => device.createBuffer({ size, usage: usage.STORAGE });
  const [first, second] = [make(100), make(20)];
  first.destroy();
  first.destroy();
  make(50);
  expect(count.peak).toBe(120);
  count.restart();
  expect(count.peak).toBe(70);
  second.destroy();
  make(30);
  expect(count.peak).toBe(80);
  device.destroy();
});
