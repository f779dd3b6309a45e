import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { readmeExamples } from '@tilewise/readme-examples';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = ['philox', 'core', 'webgpu', 'graph'] as const;

/** A change to a file: a new file, or text inserted after an existing line. */
interface Edit {
  readonly file: string;
  readonly place: { readonly kind: 'new' } | { readonly kind: 'after'; readonly line: string };
  readonly text: string;
}

/** A recipe of `extending.md`: the changes, and a program that shows that they work. */
export interface Recipe {
  readonly edits: readonly Edit[];
  /** The distinct files that change. */
  readonly files: readonly string[];
  readonly check: string;
}

/**
 * The recipe of a section. Blocks `ts FILE new` are new files, blocks `ts FILE after LINE` are inserted after
 * the line, and the block `ts run` is the check.
 */
export function readRecipe(page: string, heading: string): Recipe {
  const section = page.split(/^## /m).find(text => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`extending.md has no section "${heading}"`);
  const blocks = [...section.matchAll(/^```ts (run|\S+) ?(.*)\n([\s\S]*?)^```$/gm)];
  const edits = blocks
    .filter(([, file]) => file !== 'run')
    .map(([, file, where, text]): Edit => {
      if (where === 'new') return { file, place: { kind: 'new' }, text };
      const line = /^after (.*)$/.exec(where)?.[1];
      if (line === undefined) throw new Error(`${file}: "${where}" is neither "new" nor "after LINE"`);
      return { file, place: { kind: 'after', line }, text };
    });
  const check = blocks.find(([, file]) => file === 'run')?.[3];
  if (check === undefined) throw new Error(`the section "${heading}" has no block "ts run"`);
  return { edits, files: [...new Set(edits.map(({ file }) => file))], check };
}

/** A copy of the sources of all packages, in which they import each other. */
export class TreeCopy {
  readonly #folder: string;

  constructor() {
    const place = join(root, 'docs', 'node_modules', '.recipes');
    mkdirSync(place, { recursive: true });
    this.#folder = mkdtempSync(join(place, 'copy-'));
    cpSync(join(root, 'tsconfig.base.json'), join(this.#folder, 'tsconfig.base.json'));
    writeFileSync(join(this.#folder, 'package.json'), '{ "type": "module" }');
    mkdirSync(join(this.#folder, 'node_modules', '@tilewise'), { recursive: true });
    for (const name of packages) {
      const from = join(root, 'packages', name);
      const to = join(this.#folder, 'packages', name);
      for (const part of ['src', 'package.json', 'wasm', 'assembly'])
        if (existsSync(join(from, part)))
          cpSync(join(from, part), join(to, part), {
            recursive: true,
            filter: path => !path.endsWith('.test.ts'),
          });
      symlinkSync(to, join(this.#folder, 'node_modules', '@tilewise', name));
    }
  }

  apply({ edits }: Recipe): void {
    for (const { file, place, text } of edits) {
      const path = join(this.#folder, file);
      if (place.kind === 'new') {
        if (existsSync(path)) throw new Error(`${file} is there already`);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
        continue;
      }
      const lines = readFileSync(path, 'utf8').split('\n');
      const at = lines.findIndex(line => line.trim() === place.line.trim());
      if (at < 0) throw new Error(`${file} has no line "${place.line}": update docs/extending.md`);
      lines.splice(at + 1, 0, text.trimEnd());
      writeFileSync(path, lines.join('\n'));
    }
  }

  /** Type-checks all packages; returns the compiler's errors. */
  async typeCheck(): Promise<string> {
    const tsconfig = {
      extends: './tsconfig.base.json',
      compilerOptions: {
        ...{ noEmit: true, isolatedDeclarations: false, declaration: false, declarationMap: false },
        ...{ types: ['node'], customConditions: ['@tilewise/source'] },
      },
      include: packages.map(name => `packages/${name}/src`),
    };
    writeFileSync(join(this.#folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = join(
      dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json')),
      'bin/tsc',
    );
    try {
      await promisify(execFile)(process.execPath, [tsc, '-p', this.#folder]);
      return '';
    } catch (error) {
      return String((error as { readonly stdout?: string }).stdout ?? error);
    }
  }

  /** Runs a program on the packages of the copy; throws if a log differs from its comment. */
  async run(code: string): Promise<void> {
    const page = join(this.#folder, 'check.md');
    writeFileSync(page, '');
    await readmeExamples(pathToFileURL(page)).run(code);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
