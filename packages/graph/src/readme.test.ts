import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test, vi } from 'vitest';

test('the example of the README runs', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['@tilewise/source'],
  });
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-readme-'));
  const file = join(folder, 'example.mjs');
  writeFileSync(file, outputFiles[0].text);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import(/* @vite-ignore */ pathToFileURL(file).href);
    expect(log.mock.calls.flat()).toEqual(['sdpa-training', 4, [1, 2, 8, 4], [1, 2, 8, 1]]);
  } finally {
    log.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
