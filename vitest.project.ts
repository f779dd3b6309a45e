import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

// One seed for all random problems of a run, whichever process draws them; `runSeed` of test-data reads it.
process.env.TILEWISE_SEED ||= String(Math.floor(Math.random() * 2 ** 32));

// Software adapters compile in memory by the megabyte. Where glibc keeps what they give back, Linux need not
// zero it anew each time: a tenth less processor time. The processes that run the tests inherit these.
process.env.MALLOC_MMAP_THRESHOLD_ ||= String(32 * 2 ** 20);
process.env.MALLOC_TRIM_THRESHOLD_ ||= String(2 ** 30);

// The temporary files of tests and browsers lie in one folder, which is removed when the run ends.
if (!tmpdir().includes('tilewise-tests-')) {
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-tests-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

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
      setupFiles: [
        new URL('./vitest.properties.ts', import.meta.url).pathname,
        new URL('./vitest.equality.ts', import.meta.url).pathname,
        ...[test?.setupFiles ?? []].flat(),
      ],
    },
  });
}
