import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  test: {
    name: 'webgpu',
    include: ['src/**/*.test.ts'],
    // Files share a process, and in it one device with the kernels compiled so far: see testing/shared-context.ts.
    pool: 'forks',
    isolate: false,
    // The first test that needs a kernel compiles it: seconds each on a software adapter.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
