import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@tilewise/source'] },
  ssr: { resolve: { conditions: ['@tilewise/source'] } },
  // A process per file: a Vulkan driver is chosen once per process, and from its main thread.
  test: { name: 'webgpu-host', include: ['src/**/*.test.ts'], pool: 'forks', isolate: true },
});
