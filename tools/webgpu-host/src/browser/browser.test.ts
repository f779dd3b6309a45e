import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { packaged } from '../packaged-chromium.ts';
import { openBrowser, runInBrowser } from './index.ts';

const page = (name: string) => fileURLToPath(new URL(`./test-pages/${name}.ts`, import.meta.url));

describe.runIf(packaged() || process.env.TILEWISE_CHROMIUM)('headless Chromium', { timeout: 120_000 }, () => {
  test('opens a secure page with WebGPU', async () => {
    const host = await openBrowser();
    const found = await host.page.evaluate(() => [isSecureContext, 'gpu' in navigator]);
    await host.close();
    expect(found).toEqual([true, true]);
  });

  test('runs a TypeScript entry and returns its result', async () => {
    expect(await runInBrowser(page('adapter'))).toBeTypeOf('string');
  });

  test("rejects with the page's own error", async () => {
    await expect(runInBrowser(page('failing'))).rejects.toThrow('this page fails on purpose');
  });
});
