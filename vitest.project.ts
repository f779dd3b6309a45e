import { defineConfig, type ViteUserConfig } from 'vitest/config';

// One seed for all random problems of a run, whichever process draws them; `runSeed` of test-data reads it.
process.env.TILEWISE_SEED ||= String(Math.floor(Math.random() * 2 ** 32));

/** How the tests of a package run: on the sources of what it imports, not on their builds. */
export function project(test: ViteUserConfig['test']): ViteUserConfig {
  const conditions = ['@tilewise/source'];
  return defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: ['src/**/*.test.ts'],
      // For what hangs: what takes a second alone takes many on a machine that is busy with others.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      ...test,
    },
  });
}
