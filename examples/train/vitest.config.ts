import { project } from '../../vitest.project.ts';

// Test files share a process, because starting one and loading the packages takes longer than most tests.
export default project({ name: 'train', isolate: false });
