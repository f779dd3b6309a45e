import { chunksOf } from '../sources/byte-stream.ts';
import { counted, lengthOf, type Tell } from '../sources/progress.ts';
import { HubError } from './hub-error.ts';

/** The methods of `Cache` that are used. */
export interface PartCache {
  /** The stored response for a URL; undefined if there is none. */
  match(url: string): Promise<Response | undefined>;
  /** Stores a response, in place of an earlier one for the URL. */
  put(url: string, response: Response): Promise<void>;
  /** Removes the response for a URL. Resolves to whether there was one. */
  delete(url: string): Promise<boolean>;
}

/** A file to download. */
interface Download {
  readonly url: string;
  request(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** The body of a response. */
  read(response: Response, url: string): AsyncIterable<Uint8Array>;
  readonly cache: PartCache | undefined;
  readonly tell: Tell;
}

/** The cache's record of a partly or fully stored file. */
interface Manifest {
  readonly etag: string;
  readonly parts: number;
  readonly total: number | null;
  readonly complete: boolean;
}

/** The size of a part in bytes. A download buffers one part, which is lost if the download is interrupted. */
const PART_BYTES = 4 << 20;

const partUrl = (url: string, part: number): string => `${url}?part=${part}`;

/**
 * The bytes of a file: those in the cache, and then the remaining bytes from the server; null if the file
 * does not exist. The bytes are stored in parts on the way, so that an interrupted download resumes after its
 * last complete part if the server still has the same file.
 * @throws HubError for any other response.
 */
export async function throughCache(download: Download): Promise<AsyncIterable<Uint8Array> | null> {
  const { url, request, read, cache, tell } = download;
  const held = cache ? await readManifest(cache, url) : null;
  if (cache && held?.complete) return counted(partsOf(cache, url, held.parts), tell, held.total);
  const begin = (held?.parts ?? 0) * PART_BYTES;
  if (cache && held?.total === begin) return allParts(cache, download, held, begin);
  const response = await request(url, held ? { range: `bytes=${begin}-`, 'if-range': held.etag } : {});
  // The server has no bytes after those in the cache.
  if (cache && held && response.status === 416) return allParts(cache, download, held, begin);
  if (response.status === 404) return null;
  if (!response.ok) {
    const isClosed = response.status === 401 || response.status === 403;
    const advice = isClosed ? '; pass the token of a user who may read the file' : '';
    throw new HubError(url, `returned ${response.status} ${response.statusText}${advice}`, {
      status: response.status,
    });
  }
  const resumed = response.status === 206 && held !== null;
  const length = lengthOf(response);
  const total = length === null ? null : length + (resumed ? begin : 0);
  if (!cache) return counted(read(response, url), tell, total);
  return counted(keep(cache, download, response, resumed ? held : null, total), tell, total);
}

/** The parts of a download that was interrupted after its last byte; the cache now records it as complete. */
async function allParts(
  cache: PartCache,
  { url, tell }: Download,
  held: Manifest,
  total: number,
): Promise<AsyncIterable<Uint8Array>> {
  await writeManifest(cache, url, { ...held, total, complete: true });
  return counted(partsOf(cache, url, held.parts), tell, total);
}

async function* partsOf(
  cache: PartCache,
  url: string,
  parts: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let n = 0; n < parts; n++) {
    const part = await cache.match(partUrl(url, n));
    if (!part) {
      await cache.delete(url);
      throw new HubError(url, `is in the cache without its part ${n}; the next call downloads it again`);
    }
    yield* chunksOf(part);
  }
}

/**
 * Yields the parts in the cache and then the body of a response, and writes the body to the cache part by
 * part.
 */
async function* keep(
  cache: PartCache,
  { url, read }: Download,
  response: Response,
  held: Manifest | null,
  total: number | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  let parts = held?.parts ?? 0;
  yield* partsOf(cache, url, parts);
  const etag = response.headers.get('etag') ?? '';
  const buffer = new Uint8Array(PART_BYTES);
  let filled = 0;
  let loaded = parts * PART_BYTES;
  const flush = async (complete: boolean): Promise<void> => {
    if (filled > 0) await cache.put(partUrl(url, parts++), new Response(buffer.slice(0, filled)));
    filled = 0;
    // Without a tag it is unknown whether the server still has the same file, so only a complete file is
    // stored.
    if (complete || etag !== '') await writeManifest(cache, url, { etag, parts, total, complete });
  };
  for await (const chunk of read(response, url)) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + PART_BYTES - filled);
      buffer.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled === PART_BYTES) await flush(false);
    }
    loaded += chunk.length;
    yield chunk;
  }
  if (total !== null && loaded !== total)
    throw new HubError(url, `ended after ${loaded} of ${total} bytes; the next call resumes from there`);
  await flush(true);
}

async function readManifest(cache: PartCache, url: string): Promise<Manifest | null> {
  const held = await cache.match(url);
  return held ? ((await held.json()) as Manifest) : null;
}

async function writeManifest(cache: PartCache, url: string, manifest: Manifest): Promise<void> {
  await cache.put(url, new Response(JSON.stringify(manifest)));
}
