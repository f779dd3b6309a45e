import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: ['packages/*', 'tools/*', 'apps/*', 'examples/*'],
    reporters: ['default'],
  },
});
