import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../run.mjs';

const versions = ['5.7', '5.8', '5.9', '6.0', '7.0'];
const consumers = fileURLToPath(new URL('../checks/consumers', import.meta.url));

/** Checks the packages' types in every supported TypeScript, with its strict settings. */
export function typescriptChecks({ folder }) {
  return versions.map(version => ({
    where: `TypeScript ${version}`,
    what: 'all types, `strict`, `exactOptionalPropertyTypes`, `noUncheckedIndexedAccess`',
    run: () => {
      const place = join(folder, `typescript-${version}`);
      mkdirSync(place, { recursive: true });
      const own = Number(version) < 6 ? ['@webgpu/types'] : [];
      writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
      run(place, 'npm', [
        'install',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
        `typescript@~${version}.0`,
        ...own,
      ]);
      const files = readdirSync(consumers).filter(file => file.endsWith('.ts'));
      for (const file of files) copyFileSync(join(consumers, file), join(place, file));
      const compilerOptions = {
        ...{
          target: 'es2022',
          lib: ['es2022', 'dom', 'dom.iterable'],
          module: 'nodenext',
          types: own,
          noEmit: true,
        },
        ...{
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          skipLibCheck: false,
        },
        allowImportingTsExtensions: true,
      };
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      run(place, process.execPath, [join(place, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.']);
      return JSON.parse(readFileSync(join(place, 'node_modules', 'typescript', 'package.json'), 'utf8'))
        .version;
    },
  }));
}
