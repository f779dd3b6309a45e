import { project } from '../../vitest.project.ts';

export default project({ name: 'neighbours', testTimeout: 120_000, hookTimeout: 120_000 });
