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

test('the lack of memory for parameters has the code OUT_OF_MEMORY', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  const pool = new BufferPool(device, 0);
  const cause = new RangeError('createBuffer failed');
  Object.defineProperty(device, 'createBuffer', {
    value: () => {
      throw cause;
    },
  });
  const error = { code: 'OUT_OF_MEMORY', message: 'the GPU has no memory for another 16 bytes', cause };
  expect(() => pool.takeUniform(new Uint8Array(4))).toThrow(expect.objectContaining(error));
  expect(pool.use.current).toBe(0);
});
