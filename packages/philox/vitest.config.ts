import { project } from '../../vitest.project.ts';

// Files share a process: to start one takes longer than most of them.
export default project({ name: 'philox', isolate: false });
