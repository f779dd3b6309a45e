import { project } from '../../vitest.project.ts';

export default project({
  name: 'graph',
  // The first test that needs a WebGPU kernel compiles it: seconds each on a software adapter.
  testTimeout: 300_000,
});
