import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { logsOf, withExpectations } from './logs.ts';

export { refusedLines } from './refused-lines.ts';

/** The examples of a README or of a page of the guide, and a function that runs them. */
export interface ReadmeExamples {
  /**
   * The TypeScript and JavaScript blocks, in order. A block with the language `ts continued` begins with the
   * code of the previous block; a block `ts live` can also be run on the documentation site.
   */
  readonly examples: readonly string[];
  /**
   * Runs an example on the sources of the workspace's packages and returns the values that it logged. Fails
   * if a line `console.log(x); // => text` logs anything but the text; `…` in the text matches anything.
   */
  run(code: string): Promise<unknown[]>;
}

/**
 * The examples of a Markdown file.
 * @param place a file whose package decides what the examples can import. Default: the page.
 */
export function readmeExamples(page: URL, place: URL = page): ReadmeExamples {
  const folder = packageFolder(fileURLToPath(new URL('.', place)));
  return {
    examples: examplesIn(readFileSync(page, 'utf8')),
    async run(code) {
      const { outputFiles } = await build({
        stdin: { contents: withExpectations(code), resolveDir: folder, loader: 'ts' },
        bundle: true,
        write: false,
        format: 'esm',
        target: 'es2022',
        conditions: ['@tilewise/source'],
        logLevel: 'silent',
        plugins: [foreignPackagesStayOutside],
      });
      // A module finds packages that are not bundled from its own folder, so it is written here.
      const all = join(folder, 'node_modules', '.readme-examples');
      mkdirSync(all, { recursive: true });
      const own = mkdtempSync(join(all, 'example-'));
      try {
        const file = join(own, 'example.mjs');
        writeFileSync(file, outputFiles[0].text);
        return await logsOf(() => import(/* @vite-ignore */ pathToFileURL(file).href));
      } finally {
        rmSync(own, { recursive: true });
      }
    },
  };
}

function examplesIn(text: string): string[] {
  const examples: string[] = [];
  for (const [, continued, code] of text.matchAll(/^```(?:ts|js)(?: live)?( continued)?\n(.*?)^```$/gms))
    examples.push(continued ? (examples.at(-1) ?? '') + code : code);
  return examples;
}

/** The folder of the package that a folder belongs to. */
function packageFolder(folder: string): string {
  const parent = join(folder, '..');
  return parent === folder || hasManifest(folder) ? folder : packageFolder(parent);
}

function hasManifest(folder: string): boolean {
  try {
    return readFileSync(join(folder, 'package.json')).length > 0;
  } catch {
    return false;
  }
}

/** Only the workspace's packages are bundled from their sources; other packages run as installed. */
const foreignPackagesStayOutside: Plugin = {
  name: 'foreign packages stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@tilewise/') ? undefined : { path, external: true },
    );
  },
};
