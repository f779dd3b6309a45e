import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { extract } from 'tar-fs';

/** The npm package with a headless Chromium and the SwiftShader it was built with, brotli-compressed. */
export const packageName = '@sparticuz/chromium';

// The package exports only its entry, which is two folders below its root.
const packageRoot = join(dirname(createRequire(import.meta.url).resolve(packageName)), '..', '..');
const cacheRoot = fileURLToPath(new URL('../node_modules/.cache/tilewise-webgpu-host/', import.meta.url));

/** Whether the package has binaries for this machine. */
export function packaged(): boolean {
  return process.platform === 'linux' && process.arch === 'x64';
}

export function packageVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return manifest.version;
}

/** Unpacks `bin/<name>.tar.br` into a folder of the cache, once, and returns the folder. */
export function unpackTar(name: 'swiftshader' | 'al2023'): Promise<string> {
  return once(name, folder => untar(name, folder));
}

/** Unpacks the browser into the cache, once, and returns the path of its executable. */
export async function unpackChromium(): Promise<string> {
  const folder = await once('chromium', async into => {
    // Chromium looks for its own SwiftShader beside its executable and nowhere else.
    await untar('swiftshader', into);
    const executable = createWriteStream(join(into, 'chromium'), { mode: 0o755 });
    await pipeline(compressed('chromium.br'), createBrotliDecompress(), executable);
  });
  return join(folder, 'chromium');
}

function untar(name: string, folder: string): Promise<void> {
  return pipeline(compressed(`${name}.tar.br`), createBrotliDecompress(), extract(folder));
}

function compressed(file: string): NodeJS.ReadableStream {
  return createReadStream(join(packageRoot, 'bin', file));
}

/**
 * Fills a cache folder completely or not at all: the work happens in a folder of this process, and the rename
 * is atomic. Processes that start together each do the work, and all but one discard theirs.
 */
async function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheRoot, packageVersion(), name);
  if (existsSync(folder)) return folder;
  const own = `${folder}.${process.pid}.${randomUUID()}`;
  await mkdir(own, { recursive: true });
  try {
    await fill(own);
    await rename(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return folder;
}
