import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  // Seconds on a quiet machine; what trains is slow where others compute too.
  test: { name: 'train', include: ['src/**/*.test.ts'], testTimeout: 60_000 },
});
