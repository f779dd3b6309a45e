import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError } from '@tilewise/core';
import { expect, test } from 'vitest';
import * as checkpoint from './index.ts';

const folder = join(tmpdir(), 'never-written');
/** Passes a value that the types forbid, as JavaScript callers can. */
const any = (value: unknown): never => value as never;
const stored = async (files: unknown): Promise<void> => {
  for await (const _ of checkpoint.readCheckpoint(any(files)));
};

test.each<[string, () => unknown, string]>([
  ['a path for a checkpoint', () => stored('llama'), 'files must be the files of a model, such as folder'],
  [
    'a path for ranges',
    () => checkpoint.openSafetensors(any('model.safetensors')),
    'open must be a function, got "model',
  ],
  [
    'no path for ranges',
    async () => checkpoint.fileRanges(any(undefined)),
    'path must be a string, got undef',
  ],
  [
    'a folder that is not named',
    () => checkpoint.writeFolder(any(undefined), {}),
    'path must be a string, got undefined',
  ],
  [
    'no files',
    () => checkpoint.writeFolder(folder, any(undefined)),
    'files must be an object, got undefined',
  ],
  [
    'a file that is a number',
    () => checkpoint.writeFolder(folder, { a: any(5) }),
    "files['a'] must be a string or bytes, got 5",
  ],
  [
    'a file outside the folder',
    () => checkpoint.writeFolder(folder, { 'a/../../b': '' }),
    "files['a/../../b'] must have a path inside the folder",
  ],
])('%s is refused by name, and nothing is written', async (_, call, message) => {
  const result = (async () => call())();
  await expect(result).rejects.toBeInstanceOf(InvalidArgumentError);
  await expect(result).rejects.toThrow(message);
  expect(existsSync(folder)).toBe(false);
});
