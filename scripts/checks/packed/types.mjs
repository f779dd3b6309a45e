import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { run } from '../../run.mjs';
import { packagesOf, pagesIn, snippetsOf } from '../snippets.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const compilerOf = name =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'tsc');
const [tsc, tsc59] = ['typescript', 'typescript-5.9'].map(compilerOf);

/** Checks the types of a tarball as each module resolution finds them. */
export async function checkTypes({ tarball }) {
  const { types, problems = [] } = await checkPackage(
    createPackageFromTarballData(new Uint8Array(readFileSync(tarball))),
  );
  if (!types) throw new Error('The package has no types.');
  // The packages are ES modules: CommonJS resolution, and resolvers that do not know "exports", are not
  // supported.
  const found = problems.filter(({ resolutionKind }) => !['node10', 'node16-cjs'].includes(resolutionKind));
  if (found.length > 0) throw new Error(found.map(problem => JSON.stringify(problem)).join('\n'));
}

/**
 * Type-checks the examples of the package's README, and those examples of the site that import only the
 * package and what is installed with it, with the two TypeScript versions and the `module` settings that the
 * documentation names.
 */
export function checkExamples({ folder, name }, project) {
  const isInstalled = other => existsSync(join(project, 'node_modules', other));
  const own = snippetsOf(readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8'));
  const guides = pagesIn(join(root, 'docs'))
    .flatMap(page => snippetsOf(readFileSync(page, 'utf8')))
    .filter(code => packagesOf(code).includes(name));
  const files = [...own, ...guides]
    .filter(code => packagesOf(code).every(isInstalled))
    .map((code, n) => {
      const file = `example-${n}.ts`;
      writeFileSync(join(project, file), code);
      return file;
    });
  if (files.length === 0) return;
  for (const types of ['@webgpu/types', '@types/node']) {
    const place = join(project, 'node_modules', types);
    if (existsSync(place)) continue;
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(realpathSync(join(root, 'node_modules', types)), place);
  }
  const settings = [
    { compiler: tsc, types: ['node'], module: 'nodenext' },
    { compiler: tsc, types: ['node'], module: 'esnext', moduleResolution: 'bundler' },
    { compiler: tsc59, types: ['node', '@webgpu/types'], module: 'nodenext' },
    { compiler: tsc59, types: ['node', '@webgpu/types'], module: 'preserve' },
  ];
  for (const { compiler, ...chosen } of settings) {
    // The strict options that `tsc --init` writes.
    const strict = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true };
    const common = { target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], ...strict, noEmit: true };
    const compilerOptions = { ...common, ...chosen, skipLibCheck: true, preserveSymlinks: true };
    writeFileSync(join(project, 'tsconfig.examples.json'), JSON.stringify({ compilerOptions, files }));
    run(project, process.execPath, [compiler, '-p', 'tsconfig.examples.json']);
  }
}

/** Type-checks an import of every subpath, and the callers in checks/consumers. */
export function typeCheck({ folder, subpaths }, project) {
  const lines = subpaths.map(
    (subpath, i) =>
      `import * as m${i} from '${subpath}';\nexport const names${i}: string[] = Object.keys(m${i});`,
  );
  writeFileSync(join(project, 'subpaths.ts'), `${lines.join('\n')}\n`);
  const consumers = ['optional.ts', `${folder}.ts`];
  for (const name of consumers)
    copyFileSync(join(root, 'scripts', 'checks', 'consumers', name), join(project, name));
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const files = ['subpaths.ts', ...consumers];
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  run(project, process.execPath, [tsc, '-p', 'tsconfig.json']);
}
