import { project } from '../../vitest.project.ts';

export default project({
  name: 'webgpu',
  // Test files share a process with one device and its compiled kernels: see
  // testing/device/shared-context.ts.
  pool: 'forks',
  isolate: false,
  // The first test that needs a kernel compiles it, which takes seconds per kernel on a software adapter.
  testTimeout: 300_000,
  hookTimeout: 300_000,
});
