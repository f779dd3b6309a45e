import { openGpu } from '@tilewise/webgpu-host';
import { createContext, type GpuContext } from '../../src/index.ts';

let shared: Promise<GpuContext> | undefined;

/**
 * One context for all test files: a software adapter takes seconds to compile a kernel, and what is compiled
 * stays with the device. A test that needs a context to destroy, or to count the memory of, makes its own on
 * this device.
 */
export function sharedContext(): Promise<GpuContext> {
  shared ??= openGpu().then(({ adapter }) => createContext({ adapter }));
  return shared;
}
