import { project } from '../../vitest.project.ts';

export default project({
  name: 'webgpu',
  // Files share a process, and in it one device with the kernels compiled so far: see
  // testing/device/shared-context.ts.
  pool: 'forks',
  isolate: false,
  // The first test that needs a kernel compiles it: seconds each on a software adapter.
  testTimeout: 300_000,
  hookTimeout: 300_000,
});
