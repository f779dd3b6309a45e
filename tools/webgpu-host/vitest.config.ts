import { project } from '../../vitest.project.ts';

// One process per file, because a Vulkan driver is chosen once per process, and from its main thread.
export default project({ name: 'webgpu-host', pool: 'forks', isolate: true });
