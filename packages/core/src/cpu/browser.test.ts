import { fileURLToPath } from 'node:url';
import { runInBrowser } from '@tilewise/webgpu-host/browser';
import { expect, test } from 'vitest';
import { workerText } from '../../scripts/worker-text.mjs';

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const hasBrowser =
  process.env.TILEWISE_CHROMIUM !== undefined || (process.platform === 'linux' && process.arch === 'x64');

test.runIf(hasBrowser)('runs in a page, at once and on workers', { timeout: 120_000 }, async () => {
  const files = { '/worker.js': await workerText(path('./worker.ts')) };
  const result = await runInBrowser(path('../../testing/cpu-page.ts'), { files });
  expect(result).toMatchObject({ variant: 'wasm-relaxed-simd', isolated: true, sameBits: true });
  for (const error of (result as { readonly errors: readonly number[] }).errors)
    expect(error).toBeLessThan(1e-6);
});

test.runIf(hasBrowser)(
  'runs in TypeScript in a page whose policy forbids WebAssembly',
  { timeout: 120_000 },
  async () => {
    const result = await runInBrowser(path('../../testing/cpu-policy-page.ts'), {
      contentSecurityPolicy: "default-src 'self'; script-src 'self'; img-src data:",
    });
    expect(result).toMatchObject({
      variants: ['typescript'],
      best: 'typescript',
      description: expect.stringContaining('in TypeScript'),
      refused: 'UNSUPPORTED',
    });
    for (const error of (result as { readonly errors: readonly number[] }).errors)
      expect(error).toBeLessThan(1e-6);
  },
);
