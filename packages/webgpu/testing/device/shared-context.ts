import { openGpu } from '@tilewise/webgpu-host';
import { createContext, type GpuContext } from '../../src/index.ts';

let shared: Promise<GpuContext> | undefined;

/**
 * One context for all test files: a software adapter takes seconds to compile a kernel, and compiled kernels
 * are cached per device. A test that destroys its context, or measures its memory, creates its own on this
 * device.
 */
export function sharedContext(): Promise<GpuContext> {
  shared ??= openGpu().then(({ adapter }) => createContext({ adapter }));
  return shared;
}
