import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import {
  encodeSafetensors,
  fileRanges,
  folderFiles,
  givenFiles,
  type ModelFiles,
  openSafetensors,
  readCheckpoint,
} from './index.ts';

const one = (name: string): Uint8Array =>
  encodeSafetensors(new Map([[name, Tensor.from([name.length], [1])]]));
const index = (map: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify({ weight_map: map }));

function filesOf(files: Readonly<Record<string, Uint8Array>>): ModelFiles {
  return givenFiles(
    Object.entries(files).map(([name, bytes]) => new File([new Uint8Array(bytes)], name)),
    'the upload',
  );
}

async function namesOf(files: ModelFiles, select?: (name: string) => boolean): Promise<string[]> {
  const names: string[] = [];
  for await (const { file, name } of readCheckpoint(files, select)) names.push(`${file}:${name}`);
  return names;
}

const shards = {
  'model.safetensors.index.json': index({ a: '1.safetensors', b: '2.safetensors' }),
  '1.safetensors': one('a'),
  '2.safetensors': one('b'),
};

test('one file, or the shards of an index', async () => {
  expect(await namesOf(filesOf({ 'model.safetensors': one('a') }))).toEqual(['model.safetensors:a']);
  expect(await namesOf(filesOf(shards))).toEqual(['1.safetensors:a', '2.safetensors:b']);
});

test('a file of the chosen folder is used instead of files with its name in subfolders', async () => {
  const file = (path: string, bytes: Uint8Array) =>
    Object.defineProperty(
      new File([new Uint8Array(bytes)], path.slice(path.lastIndexOf('/') + 1)),
      'webkitRelativePath',
      { value: path },
    );
  const own = file('chosen/model.safetensors', one('own'));
  const older = file('chosen/checkpoint-100/model.safetensors', one('older'));
  for (const files of [
    [own, older],
    [older, own],
  ])
    expect(await namesOf(givenFiles(files))).toEqual(['model.safetensors:own']);
});

test('an index of many tensors is read in a time that grows with their number', async () => {
  const map = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`t${n}`, '1.safetensors']));
  const files = filesOf({ 'model.safetensors.index.json': index(map), '1.safetensors': one('a') });
  // Copying the list of a shard for each tensor took minutes.
  await expect(namesOf(files)).rejects.toThrow("'t0' is missing");
}, 30_000);

test('a shard without requested tensors is not opened', async () => {
  const { '1.safetensors': _, ...rest } = shards;
  expect(await namesOf(filesOf(rest), name => name === 'b')).toEqual(['2.safetensors:b']);
});

test.each<readonly [string, Readonly<Record<string, Uint8Array>>, string]>([
  ['neither file nor index', {}, 'the upload has neither model.safetensors nor model.safetensors.index.json'],
  ['an index without a map', { 'model.safetensors.index.json': index([]) }, "has no 'weight_map'"],
  [
    'a shard in another folder',
    { 'model.safetensors.index.json': index({ a: '../secret' }) },
    'tensor \'a\' is in "../secret", which is not a file next to the index',
  ],
  [
    'a missing shard',
    { ...shards, '1.safetensors': undefined as unknown as Uint8Array },
    '1.safetensors is missing',
  ],
  [
    'a shard without its tensor',
    { ...shards, '2.safetensors': one('c') },
    "2.safetensors: tensor 'b' is missing",
  ],
  [
    'a tensor that the index does not list',
    {
      ...shards,
      '2.safetensors': encodeSafetensors(
        new Map([
          ['b', Tensor.zeros([1])],
          ['c', Tensor.zeros([1])],
        ]),
      ),
    },
    "2.safetensors: tensor 'c' is not listed in model.safetensors.index.json",
  ],
])('%s is refused', async (_, files, message) => {
  const present = Object.fromEntries(Object.entries(files).filter(([, bytes]) => bytes !== undefined));
  await expect(namesOf(filesOf(present))).rejects.toThrow(message);
});

test('a folder in Node, and single tensors of one of its files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoint-'));
  try {
    for (const [name, bytes] of Object.entries(shards)) writeFileSync(join(folder, name), bytes);
    expect(await namesOf(folderFiles(folder))).toEqual(['1.safetensors:a', '2.safetensors:b']);
    const { read } = await openSafetensors(fileRanges(join(folder, '2.safetensors')));
    expect([...(await read('b')).data]).toEqual([1]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
