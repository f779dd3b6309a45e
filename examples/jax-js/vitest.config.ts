import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  test: { name: 'jax-js', include: ['src/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
});
