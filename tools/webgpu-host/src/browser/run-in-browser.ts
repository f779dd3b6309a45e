import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { openBrowser, type ServedFiles } from './open-browser.ts';

export interface RunInBrowserOptions {
  /** Milliseconds until the run fails with a timeout; default 120 000. */
  readonly timeout?: number;
  /** The files that the page may fetch, by path (`/input.json`). */
  readonly files?: ServedFiles;
  /**
   * A content security policy for the page. The browser's messages about violations of the policy then do not
   * count as failures.
   */
  readonly contentSecurityPolicy?: string;
}

/**
 * Bundles a TypeScript entry from the sources of the workspace and runs it in a page with WebGPU. Returns
 * what the promise `globalThis.result`, set by the entry, resolves to: numbers, strings, arrays and plain
 * objects of these. Rejects with anything that the page throws or writes to `console.error`, and after the
 * timeout.
 */
export async function runInBrowser(
  entryFile: string,
  { timeout = 120_000, files = {}, contentSecurityPolicy }: RunInBrowserOptions = {},
): Promise<unknown> {
  const host = await openBrowser({ ...files, '/entry.js': await bundle(entryFile) }, contentSecurityPolicy);
  const failure = firstFailure(host.page, timeout, contentSecurityPolicy !== undefined);
  try {
    return await Promise.race([host.page.evaluate(runEntry), failure.promise]);
  } finally {
    failure.stop();
    await host.close();
  }
}

// The code that the page evaluates. It is a string, because tools that transform this file, such as Vitest,
// would rewrite an `import()` in code.
const runEntry = `(async () => {
  await import('/entry.js');
  if (!('result' in globalThis)) throw new Error('The entry did not set globalThis.result.');
  return await globalThis.result;
})()`;

async function bundle(entryFile: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryFile],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@tilewise/source'],
    sourcemap: 'inline',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (!output) throw new Error(`esbuild produced no output for ${entryFile}.`);
  return output.text;
}

function firstFailure(
  page: Page,
  timeout: number,
  hasPolicy: boolean,
): { promise: Promise<never>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<never>((_, reject) => {
    page.on('pageerror', reject);
    page.on('crash', () => reject(new Error('The page crashed.')));
    page.on('console', message => {
      if (hasPolicy && message.text().includes('Content Security Policy')) return;
      if (message.type() === 'error') reject(new Error(`The page wrote an error: ${message.text()}`));
    });
    timer = setTimeout(() => reject(new Error(`The page did not finish in ${timeout} ms.`)), timeout);
  });
  promise.catch(() => {});
  return { promise, stop: () => clearTimeout(timer) };
}
