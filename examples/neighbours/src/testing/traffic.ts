import { vi } from 'vitest';

/** The traffic of some work: copies on the GPU, reads by the host, and the sizes of new buffers. */
export interface Traffic {
  readonly copies: number;
  readonly reads: number;
  readonly buffers: readonly number[];
}

/** Counts copies between buffers, mapped buffers and new buffers while `work` runs. */
export async function trafficOf<T>(work: () => T | Promise<T>): Promise<{ result: T; traffic: Traffic }> {
  const copies = vi.spyOn(GPUCommandEncoder.prototype, 'copyBufferToBuffer');
  const reads = vi.spyOn(GPUBuffer.prototype, 'mapAsync');
  const buffers = vi.spyOn(GPUDevice.prototype, 'createBuffer');
  try {
    const result = await work();
    const sizes = buffers.mock.calls.map(([{ size }]) => size);
    return {
      result,
      traffic: { copies: copies.mock.calls.length, reads: reads.mock.calls.length, buffers: sizes },
    };
  } finally {
    for (const spy of [copies, reads, buffers]) spy.mockRestore();
  }
}
