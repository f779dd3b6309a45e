import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/**
 * The numbers, from 1, of the lines of a program that the TypeScript compiler refuses, each once.
 * @param place the folder from which the program's imports are resolved.
 */
export function refusedLines(lines: readonly string[], place: string = tmpdir()): number[] {
  const folder = mkdtempSync(join(place, 'tilewise-types-'));
  try {
    writeFileSync(join(folder, 'program.ts'), lines.join('\n'));
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2022', strict: true, noEmit: true, types: [] },
      ...{ allowImportingTsExtensions: true, customConditions: ['@tilewise/source'], skipLibCheck: true },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe', cwd: folder });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return [...new Set([...stdout.matchAll(/program\.ts\((\d+),/g)].map(match => Number(match[1])))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
