import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuEngine } from '@tilewise/core/cpu';
import { afterAll, expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../../testing/tiny-model.ts';
import { loadModel } from '../../load-model.ts';
import {
  type FileProgress,
  folderFiles,
  givenFiles,
  type ModelFiles,
  withProgress,
} from '../checkpoint/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'tilewise-progress-'));
afterAll(() => rmSync(folder, { recursive: true }));
const bytes = new Uint8Array(200_000).fill(7);
const chunks = [bytes.subarray(0, 150_000), bytes.subarray(150_000)];
const name = 'model.safetensors';
writeFileSync(join(folder, name), bytes);

const response = (headers: Record<string, string>): Response => new Response(bytes, { headers });
const opened = (source: Awaited<ReturnType<ModelFiles['open']>>): ModelFiles => ({
  name: 'files',
  open: async () => source,
});

test.each<[string, ModelFiles, number | null]>([
  ['a folder', folderFiles(folder), bytes.length],
  ['files that a visitor chose', givenFiles([new File([bytes], name)]), bytes.length],
  ['bytes in memory', opened(bytes), bytes.length],
  ['a buffer in memory', opened(bytes.buffer), bytes.length],
  ['a response that states its length', opened(response({ 'content-length': '200000' })), bytes.length],
  ['a compressed response', opened(response({ 'content-length': '900', 'content-encoding': 'gzip' })), null],
  ['chunks', opened(chunks), null],
  ['chunks whose size is known', opened(Object.assign([...chunks], { size: bytes.length })), bytes.length],
])('reports how much of %s has been read', async (_, files, total) => {
  const told: FileProgress[] = [];
  const source = await withProgress(files, progress => told.push(progress)).open(name);
  let read = 0;
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    expect(told.at(-1)).toEqual({ file: name, loaded: read, total });
  }
  expect(read).toBe(bytes.length);
});

test('a missing file stays null', async () => {
  const files = withProgress(folderFiles(folder), () => expect.unreachable());
  expect(await files.open('config.json')).toBeNull();
});

test('a model loads with progress, up to the last byte of its weights', async () => {
  const loaded = new Map<string, FileProgress>();
  const files = withProgress(filesOf(tinyLlama), progress => loaded.set(progress.file, progress));
  const model = await loadModel(files, { engine: cpuEngine({ threads: 1 }) });
  const weights = loaded.get(name);
  expect(weights?.loaded).toBeGreaterThan(4 * model.parameterCount);
  expect(weights?.total).toBe(weights?.loaded);
  model.release();
});

test('arguments of the wrong kind are refused', () => {
  expect(() => withProgress('folder' as never, () => {})).toThrow('files must be the files of a model');
  expect(() => withProgress(folderFiles(folder), 5 as never)).toThrow('onProgress must be a function, got 5');
});
