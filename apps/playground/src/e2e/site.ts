import { fileURLToPath } from 'node:url';
import { type BrowserHost, openBrowser } from '@tilewise/webgpu-host/browser';
import { build, preview } from 'vite';

/** The built page in a headless Chromium. */
export interface Site {
  readonly page: BrowserHost['page'];
  readonly browser: BrowserHost['browser'];
  /** Where the page is served. */
  readonly address: string;
  /** What the page wrote to the console as errors, or threw. */
  readonly errors: string[];
  /** Opens a place of the page (`?lang=de#/machine?problem=…`) as a visitor who has never been here. */
  visit(place: string): Promise<void>;
  close(): Promise<void>;
}

/** Builds the page into a folder of this name, serves it from a sub-path and opens a browser. */
export async function openSite(name: string): Promise<Site> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const outDir = `node_modules/.cache/e2e/${name}`;
  // A test runner says 'test', with which React's development build would be taken.
  process.env.NODE_ENV = 'production';
  await build({ root, logLevel: 'silent', build: { outDir, emptyOutDir: true } });
  const server = await preview({
    root,
    base: '/some/path/',
    logLevel: 'silent',
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1' },
  });
  const origin = server.resolvedUrls?.local[0];
  if (!origin) throw new Error('The server has no address.');
  const host = await openBrowser();
  const errors: string[] = [];
  const { page } = host;
  page.on('console', message => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', error => errors.push(error.message));
  return {
    page,
    browser: host.browser,
    address: origin,
    errors,
    async visit(place) {
      // What the last visitor chose is not known to the next.
      if (page.url().startsWith(origin)) await page.evaluate('localStorage.clear()');
      await page.goto('about:blank');
      await page.goto(`${origin}${place}`);
    },
    async close() {
      await host.close();
      await server.close();
    },
  };
}
