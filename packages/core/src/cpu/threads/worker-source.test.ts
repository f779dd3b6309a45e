import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { workerText } from '../../../scripts/worker-text.mjs';

const built = (file: string) => fileURLToPath(new URL(`../../../dist/cpu/${file}`, import.meta.url));

// Compiling the package without its build script leaves a worker from older sources in it.
test.skipIf(!existsSync(built('worker.js')))(
  'the script of the workers in dist is made of the dist beside it',
  async () => {
    const { workerSource }: { workerSource: string | null } = await import(built('threads/worker-source.js'));
    expect(
      workerSource === (await workerText(built('worker.js'))),
      'dist is out of date: run pnpm build',
    ).toBe(true);
  },
);
