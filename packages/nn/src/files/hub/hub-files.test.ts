import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chunksOf } from '../sources/byte-stream.ts';
import { type FileProgress, HubError, hubFiles, type PartCache } from './index.ts';

const data = Uint8Array.from({ length: (9 << 20) + 5 }, (_, n) => (n * 31) >> 3);
let bytes = data;
const requests: { readonly url?: string; readonly range?: string; readonly authorization?: string }[] = [];
/** The server's ETag of the file, and the number of bytes after which it closes the connection. */
const state = { etag: '"one"', cutAfter: Number.POSITIVE_INFINITY, tellsLength: true };
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { range, authorization } = request.headers;
    requests.push({ url: request.url, range, authorization });
    if (!request.url?.endsWith('/model.safetensors')) return response.writeHead(404).end();
    if (request.url.includes('/gated/') && authorization !== 'Bearer secret')
      return response.writeHead(401).end();
    const resumed = range !== undefined && request.headers['if-range'] === state.etag;
    const begin = resumed ? Number(/\d+/.exec(range)?.[0]) : 0;
    if (begin === bytes.length) return response.writeHead(416).end();
    const length = state.tellsLength && { 'content-length': bytes.length - begin };
    response.writeHead(resumed ? 206 : 200, { etag: state.etag, ...length });
    if (state.cutAfter === Number.POSITIVE_INFINITY) return response.end(bytes.subarray(begin));
    return response.write(bytes.subarray(begin, state.cutAfter), () =>
      setTimeout(() => response.destroy(), 500),
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** The used part of the Cache API, in memory. */
function memoryCache(): PartCache & { readonly held: Map<string, Response> } {
  const held = new Map<string, Response>();
  return {
    held,
    match: async url => held.get(url)?.clone(),
    put: async (url, response) => void held.set(url, response),
    delete: async url => held.delete(url),
  };
}

async function load(files: ReturnType<typeof hubFiles>): Promise<Buffer> {
  const source = await files.open('model.safetensors');
  if (source === null) throw new Error('there is no such file');
  return Buffer.concat(await collect(chunksOf(source)));
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

test('a file of a revision, with a token, and its progress', async () => {
  requests.length = 0;
  const progress: FileProgress[] = [];
  const files = hubFiles({
    ...{ id: 'owner/gated', revision: 'v1/a', baseUrl, token: 'secret' },
    onProgress: told => progress.push(told),
  });
  expect((await load(files)).equals(bytes)).toBe(true);
  expect(requests).toEqual([
    {
      url: '/owner/gated/resolve/v1%2Fa/model.safetensors',
      range: undefined,
      authorization: 'Bearer secret',
    },
  ]);
  expect(progress.at(-1)).toEqual({ file: 'model.safetensors', loaded: bytes.length, total: bytes.length });
});

test('a missing file is null, and the error for a file that is not public asks for a token', async () => {
  expect(await hubFiles({ id: 'owner/open', baseUrl }).open('none.json')).toBeNull();
  const error = await load(hubFiles({ id: 'owner/gated', baseUrl })).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HubError);
  expect(error).toMatchObject({ status: 401, message: expect.stringContaining('pass the token') });
  await expect(load(hubFiles({ id: 'owner/open', baseUrl: 'http://127.0.0.1:1' }))).rejects.toThrow(HubError);
});

test('an id or a revision that would change the path is refused', () => {
  expect(() => hubFiles({ id: '../x', baseUrl })).toThrow("id must be 'owner/name', got '../x'");
  expect(() => hubFiles({ id: 'a/b', revision: '../..', baseUrl })).toThrow('revision must be');
});

test('a file that was loaded comes from the cache, without a request', async () => {
  const files = hubFiles({ id: 'owner/open', baseUrl, cache: memoryCache() });
  await load(files);
  requests.length = 0;
  expect((await load(files)).equals(bytes)).toBe(true);
  expect(requests).toEqual([]);
});

test('an interrupted download resumes after its last complete part', async () => {
  const cache = memoryCache();
  const files = hubFiles({ id: 'owner/open', baseUrl, cache });
  state.cutAfter = 6 << 20;
  const error = await load(files).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HubError);
  expect(error).toMatchObject({ message: expect.stringContaining('model.safetensors was cut off') });
  state.cutAfter = Number.POSITIVE_INFINITY;
  requests.length = 0;
  expect((await load(files)).equals(bytes)).toBe(true);
  expect(requests.map(({ range }) => range)).toEqual([`bytes=${4 << 20}-`]);
});

test('a signal ends a download with its own reason', async () => {
  const stop = new AbortController();
  const onProgress = () => stop.abort(new Error('enough'));
  const files = hubFiles({ id: 'owner/open', baseUrl, signal: stop.signal, onProgress });
  await expect(load(files)).rejects.toThrow('enough');
});

test.each([true, false])(
  'a download that was cut off after its last byte is complete: length told %s',
  async told => {
    bytes = data.subarray(0, 8 << 20);
    Object.assign(state, { cutAfter: Number.POSITIVE_INFINITY, tellsLength: told });
    const held = memoryCache();
    const put = held.put;
    // The page is closed before the cache learns that the file is complete.
    held.put = async (url, response) => {
      const text = url.includes('?part=') ? '' : await response.clone().text();
      if (text.includes('"complete":true')) throw new Error('closed');
      return put(url, response);
    };
    const open = (cache: PartCache) => hubFiles({ id: 'owner/open', baseUrl, cache });
    await expect(load(open(held))).rejects.toThrow('closed');
    const cache = { ...held, put };
    expect((await load(open(cache))).equals(bytes)).toBe(true);
    requests.length = 0;
    expect((await load(open(cache))).equals(bytes)).toBe(true);
    expect(requests).toEqual([]);
    bytes = data;
    state.tellsLength = true;
  },
);

test('if the server then has another file, it is loaded from the start', async () => {
  const cache = memoryCache();
  const files = hubFiles({ id: 'owner/open', baseUrl, cache });
  state.cutAfter = 6 << 20;
  await expect(load(files)).rejects.toThrow();
  Object.assign(state, { cutAfter: Number.POSITIVE_INFINITY, etag: '"two"' });
  expect((await load(files)).equals(bytes)).toBe(true);
  expect((await load(files)).equals(bytes)).toBe(true);
});
