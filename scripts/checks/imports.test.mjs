import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every module that a script imports exists', async () => {
  const scripts = ['scripts', '.ci'].flatMap(folder =>
    readdirSync(`${root}/${folder}`, { recursive: true })
      .filter(path => path.endsWith('.mjs') && !path.endsWith('.test.mjs'))
      .map(path => `${folder}/${path}`),
  );
  // The type check does not read scripts, and no test runs most of them.
  const { errors } = await build({
    ...{ absWorkingDir: root, entryPoints: scripts, outdir: 'unwritten', write: false },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', logLevel: 'silent' },
  }).catch(error => error);
  expect(errors.map(({ text, location }) => `${location?.file}: ${text}`)).toEqual([]);
});
