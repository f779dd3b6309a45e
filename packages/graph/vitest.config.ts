import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  test: {
    name: 'graph',
    include: ['src/**/*.test.ts'],
    // The first test that needs a WebGPU kernel compiles it: seconds each on a software adapter.
    testTimeout: 300_000,
  },
});
