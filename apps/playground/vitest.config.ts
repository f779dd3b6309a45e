import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  test: { name: 'playground', include: ['src/**/*.test.ts'] },
});
