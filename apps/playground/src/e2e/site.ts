import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BrowserHost, openBrowser } from '@tilewise/webgpu-host/browser';
import { build, type Plugin, preview } from 'vite';

/** The built page in a headless Chromium. */
export interface Site {
  readonly page: BrowserHost['page'];
  readonly browser: BrowserHost['browser'];
  /** The address at which the page is served. */
  readonly address: string;
  /** The errors that the page wrote to the console, or threw. */
  readonly errors: string[];
  /** Opens a place of the page (`?lang=de#/machine?problem=…`) as a first-time visitor. */
  visit(place: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * How long tests wait for a page, in milliseconds. A step that takes one second by itself takes many seconds
 * beside other tests.
 */
export const pageTimeout = 120_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
// Workers of the test runner build at the same time, so each builds into its own folder.
const outDir = `node_modules/.cache/e2e/${process.env.VITEST_POOL_ID ?? 'alone'}`;
let built: Promise<void> | undefined;

/** Builds the page once, however many test files of this process ask for it. */
function buildSite(): Promise<void> {
  built ??= (async () => {
    const { NODE_ENV } = process.env;
    // A test runner sets NODE_ENV to 'test', which would select React's development build.
    process.env.NODE_ENV = 'production';
    await build({ root, logLevel: 'silent', build: { outDir, emptyOutDir: true } });
    process.env.NODE_ENV = NODE_ENV;
  })();
  return built;
}

const types = { js: 'text/javascript', css: 'text/css' } as const;

/** Compresses scripts and styles as static hosts do, because loading times depend on it. */
const compressed: Plugin = {
  name: 'compressed',
  configurePreviewServer({ middlewares, config }) {
    const headers = Object.entries(config.preview.headers);
    const known = new Map<string, Buffer>();
    middlewares.use(async (request, response, next) => {
      const [, name, ending] = /\/assets\/([\w-]+\.(js|css))$/.exec(request.url ?? '') ?? [];
      if (name === undefined) return next();
      const file = `${root}/${outDir}/assets/${name}`;
      const body = known.get(file) ?? gzipSync(await readFile(file));
      known.set(file, body);
      for (const [header, value] of headers) if (typeof value === 'string') response.setHeader(header, value);
      response.setHeader('Content-Type', types[ending === 'css' ? 'css' : 'js']);
      response.setHeader('Content-Encoding', 'gzip');
      response.end(body);
    });
  },
};

/** Builds the page, serves it from a sub-path and opens a browser. */
export async function openSite(): Promise<Site> {
  await buildSite();
  const server = await preview({
    root,
    base: '/some/path/',
    logLevel: 'silent',
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1' },
    plugins: [compressed],
  });
  const origin = server.resolvedUrls?.local[0];
  if (!origin) throw new Error('The server has no address.');
  const host = await openBrowser();
  // A service worker starts when a page has been open for some seconds. From then on it would make requests
  // that the page's routes do not see.
  const context = await host.browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  const errors: string[] = [];
  page.setDefaultTimeout(pageTimeout);
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
      // The next visitor must not see the choices of the last one. Leave the page first, because the page may
      // store something when it is left.
      await page.goto(`${origin}icon.svg`);
      await page.evaluate('localStorage.clear()');
      await page.goto(`${origin}${place}`);
    },
    async close() {
      await host.close();
      await server.close();
    },
  };
}
