import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { packaged, packageName, unpackChromium, unpackTar } from '../packaged-chromium.ts';
import { workgroupInitToggle } from '../vulkan/workgroup-init.ts';

export interface BrowserHost {
  readonly browser: Browser;
  /**
   * An empty page on `http://127.0.0.1`. It is a secure context, so `navigator.gpu` exists, and it is
   * cross-origin isolated.
   */
  readonly page: Page;
  /** The origin that the page was served from, without a trailing slash. */
  readonly origin: string;
  /** Closes the browser and the server. */
  close(): Promise<void>;
}

/** Files that the server serves besides the empty page, by path (`/entry.js`). */
export type ServedFiles = Readonly<Record<string, string>>;

const emptyPage =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Tilewise</title>';

// A page gets SwiftShader only if the browser is told to offer it; the other flags keep the browser off the
// network.
const chromiumArgs = [
  '--no-sandbox',
  '--headless=shell',
  '--enable-unsafe-webgpu',
  '--enable-features=Vulkan',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const softwareArgs = ['--use-webgpu-adapter=swiftshader', `--disable-dawn-features=${workgroupInitToggle}`];

/**
 * Starts a headless Chromium with WebGPU and opens an empty page. The browser is the one that the environment
 * variable `TILEWISE_CHROMIUM` names, else the one from npm (Linux x64). WebGPU runs on the browser's
 * SwiftShader, or on the machine's GPU under `TILEWISE_ADAPTER=hardware`. If a content security policy is
 * given, the page has it. Throws an `Error` if there is no browser.
 */
export async function openBrowser(
  files: ServedFiles = {},
  contentSecurityPolicy?: string | undefined,
): Promise<BrowserHost> {
  const executable = await findChromium();
  const software = process.env.TILEWISE_ADAPTER !== 'hardware';
  const browser = await chromium.launch({
    executablePath: executable.path,
    headless: true,
    env: { ...process.env, ...executable.env },
    args: software ? [...chromiumArgs, ...softwareArgs] : chromiumArgs,
  });
  const server = await serve(files, contentSecurityPolicy);
  const close = async () => {
    await browser.close();
    server.close();
  };
  try {
    const page = await browser.newPage();
    await page.goto(server.origin);
    return { browser, page, origin: server.origin, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function findChromium(): Promise<{ path: string; env: Record<string, string> }> {
  const own = process.env.TILEWISE_CHROMIUM;
  if (own) return { path: own, env: {} };
  if (!packaged()) {
    throw new Error(
      `The Chromium of ${packageName} is built for Linux x64, not ${process.platform}-${process.arch}. ` +
        'Set TILEWISE_CHROMIUM to the path of a Chromium or Chrome.',
    );
  }
  const [path, libraries] = await Promise.all([unpackChromium(), unpackTar('al2023')]);
  // A bare server lacks some of the libraries that a desktop has (NSS, expat), so the package includes them.
  const search = [join(libraries, 'lib'), dirname(path), process.env.LD_LIBRARY_PATH]
    .filter(Boolean)
    .join(':');
  return { path, env: { LD_LIBRARY_PATH: search } };
}

async function serve(
  files: ServedFiles,
  contentSecurityPolicy: string | undefined,
): Promise<{ origin: string; close(): void }> {
  const server = createServer((request, response) => {
    // Isolates the page, so that its threads may share memory.
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    if (contentSecurityPolicy) response.setHeader('content-security-policy', contentSecurityPolicy);
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
    const file = files[path];
    if (path === '/') response.setHeader('content-type', 'text/html').end(emptyPage);
    else if (file !== undefined) response.setHeader('content-type', 'text/javascript').end(file);
    else response.writeHead(404).end();
  });
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
