import { project } from '../../vitest.project.ts';

export default project({ name: 'core', setupFiles: ['./vitest.setup.ts'] });
