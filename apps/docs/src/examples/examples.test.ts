import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pagesIn, snippetsOf } from '../../../../scripts/checks/snippets.mjs';
import { runExample } from '../live/run-example.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const readmes = readdirSync(join(root, 'packages')).map(name => join(root, 'packages', name, 'README.md'));
const pages = [join(root, 'README.md'), ...pagesIn(join(root, 'docs')), ...readmes];
const examples = pages.flatMap((page: string) =>
  snippetsOf(readFileSync(page, 'utf8')).map((code: string, n: number) => ({
    name: `${relative(root, page).replaceAll('/', '__').replace('.md', '')}-${n + 1}.ts`,
    code,
  })),
);

test('every example of the site and of the READMEs compiles, with the types of all packages', () => {
  const place = fileURLToPath(new URL('../../node_modules/.examples', import.meta.url));
  mkdirSync(place, { recursive: true });
  const folder = mkdtempSync(join(place, 'run-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { name, code } of examples) writeFileSync(join(folder, name), code);
    const compilerOptions = {
      ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], module: 'nodenext', strict: true },
      // `tsc --init` writes these too.
      ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
      ...{ types: ['node'], noEmit: true, skipLibCheck: true },
    };
    const files = examples.map(({ name }) => name);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const typescript = dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json'));
    const { stdout } = spawnSync(process.execPath, [join(typescript, 'bin', 'tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(files.length).toBeGreaterThan(40);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an example of a page runs as it does in the page, and logs text', async () => {
  const lines: string[] = [];
  const code = `
    import { Tensor } from '@tilewise/core';
    const shape: number[] = [2];
    console.log(Tensor.from([1, 2], shape).toFloat32(), await Promise.resolve('done'));`;
  await runExample(code, line => lines.push(line));
  expect(lines).toEqual(['[1, 2] done']);
});

test('an example that imports a package that the site lacks gets an error that says so', async () => {
  await expect(runExample("import fs from 'node:fs';\nfs.constants;", () => {})).rejects.toThrow(
    'The site has no node:fs',
  );
});
