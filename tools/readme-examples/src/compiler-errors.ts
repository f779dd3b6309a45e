import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/**
 * What the TypeScript compiler says about some modules, as lines `name(line,column): error …`; an empty text
 * if it accepts all of them.
 * @param modules the modules by name, without `.ts`.
 * @param place the folder from which imports are resolved.
 */
export function compilerErrors(
  modules: ReadonlyMap<string, string>,
  place: string = tmpdir(),
  types: readonly string[] = [],
): string {
  const folder = mkdtempSync(join(place, 'tilewise-types-'));
  const files = [...modules.keys()].map(name => `${name}.ts`);
  try {
    for (const [name, text] of modules) writeFileSync(join(folder, `${name}.ts`), text);
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2022', strict: true, noEmit: true, types },
      ...{ allowImportingTsExtensions: true, customConditions: ['@tilewise/source'], skipLibCheck: true },
      ...{ moduleDetection: 'force' },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe', cwd: folder });
    return '';
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
