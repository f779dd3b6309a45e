import type { GpuContext } from '@tilewise/webgpu';

/** Records work of plans, which take an encoder as well as a pass. */
export type EncodePlan = (target: GPUComputePassEncoder | GPUCommandEncoder, round: number) => void;

/**
 * Runs plans once more in an encoder, where the trace of the context times each kernel: what is timed runs in
 * a pass of the clock, which a trace does not see. Does nothing without a trace.
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
