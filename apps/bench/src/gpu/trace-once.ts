import type { GpuContext } from '@tilewise/webgpu';

/** Encodes plans, into an encoder or a pass. */
export type EncodePlan = (target: GPUComputePassEncoder | GPUCommandEncoder, round: number) => void;

/**
 * Runs plans once more in an encoder, where the context's trace times each kernel. The timed runs are in a
 * pass of the clock, which a trace does not see. Does nothing without a trace.
 */
export async function traceOnce(
  { device, trace }: GpuContext,
  encodes: readonly EncodePlan[],
): Promise<void> {
  if (!trace) return;
  const encoder = device.createCommandEncoder();
  for (const encode of encodes) encode(encoder, 0);
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
}
