import { project } from '../vitest.project.ts';

export default project({ name: 'scripts', include: ['**/*.test.mjs'] });
