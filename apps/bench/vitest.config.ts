import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  test: { name: 'bench', include: ['src/**/*.test.ts'] },
});
