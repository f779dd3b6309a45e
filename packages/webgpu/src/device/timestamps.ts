import { bufferUsage, mapModeRead } from './webgpu-flags.ts';

/**
 * Submits an encoder and reads the first `count` timestamps that it writes to a query set, in nanoseconds.
 */
export async function readTimestamps(
  device: GPUDevice,
  encoder: GPUCommandEncoder,
  queries: GPUQuerySet,
  count: number,
): Promise<BigUint64Array> {
  const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = bufferUsage;
  const { label } = encoder;
  const size = 8 * count;
  const resolved = device.createBuffer({ label, size, usage: QUERY_RESOLVE | COPY_SRC });
  const staging = device.createBuffer({ label, size, usage: COPY_DST | MAP_READ });
  encoder.resolveQuerySet(queries, 0, count, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  try {
    await staging.mapAsync(mapModeRead);
    return new BigUint64Array(staging.getMappedRange().slice(0));
  } finally {
    for (const buffer of [resolved, staging]) buffer.destroy();
  }
}
