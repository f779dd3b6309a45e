import { project } from '../../vitest.project.ts';

// Files share a process: to start one and load the packages takes longer than most of them.
export default project({ name: 'test-data', isolate: false });
