import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CheckpointError } from './checkpoint-error.ts';
import { folderFiles } from './folder-files.ts';
import { readText } from './model-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'tilewise-files-'));
writeFileSync(join(folder, 'config.json'), '{}');
mkdirSync(join(folder, 'model.safetensors'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a file of a folder is opened, and nothing else is', async () => {
  const files = folderFiles(folder);
  expect(await readText(files, 'config.json')).toBe('{}');
  expect(await readText(files, 'absent.json')).toBeNull();
  expect(await readText(files, 'model.safetensors')).toBeNull();
});

test.each([
  ['has a NUL', 'a\0b'],
  ['is too long', 'x'.repeat(5000)],
])('a name that %s is refused with an error that names the file', async (_, file) => {
  const opening = folderFiles(folder).open(file);
  await expect(opening).rejects.toThrow(CheckpointError);
  await expect(opening).rejects.toMatchObject({ file, message: expect.stringContaining('cannot be opened') });
});
