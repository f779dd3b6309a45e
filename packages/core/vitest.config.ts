import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  test: { name: 'core', include: ['src/**/*.test.ts'], setupFiles: ['./vitest.setup.ts'] },
});
