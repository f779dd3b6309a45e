import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

test('a size is rounded up only as far as the device allows', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  Object.defineProperty(device, 'limits', { value: { maxBufferSize: 5000 } });
  const pool = new BufferPool(device, 0);
  expect([4500, 4997].map(bytes => pool.take(bytes).size)).toEqual([4608, 5000]);
  pool.destroy();
});
