import { project } from '../../vitest.project.ts';

export default project({
  name: 'nn',
  // Files share a process: to load the engines takes longer than most of them.
  isolate: false,
  // The first test that needs a WebGPU kernel compiles it: seconds each on a software adapter.
  testTimeout: 300_000,
});
