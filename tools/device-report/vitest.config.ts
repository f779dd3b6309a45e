import { project } from '../../vitest.project.ts';

export default project({ name: 'device-report' });
