import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The examples of a README, and how they are run. */
export interface ReadmeExamples {
  /** The blocks of TypeScript and JavaScript, in order. */
  readonly examples: readonly string[];
  /** Runs an example on the sources of the packages, and gives what it logged. */
  run(code: string, options?: { readonly external?: readonly string[] }): Promise<unknown[]>;
}

/** The examples of a README that lies in the folder of a package. */
export function readmeExamples(readme: URL): ReadmeExamples {
  const text = readFileSync(readme, 'utf8');
  const folder = fileURLToPath(new URL('.', readme));
  return {
    examples: [...text.matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)].map(([, code]) => code),
    async run(code, { external = [] } = {}) {
      const { outputFiles } = await build({
        stdin: { contents: code, resolveDir: folder, loader: 'ts' },
        bundle: true,
        write: false,
        format: 'esm',
        target: 'es2022',
        conditions: ['@tilewise/source'],
        external: [...external],
      });
      // Where what is not bundled is found as the package finds it.
      const place = join(folder, 'node_modules', '.readme-examples');
      mkdirSync(place, { recursive: true });
      const own = mkdtempSync(join(place, 'example-'));
      try {
        const file = join(own, 'example.mjs');
        writeFileSync(file, outputFiles[0].text);
        return await logged(() => import(/* @vite-ignore */ pathToFileURL(file).href));
      } finally {
        rmSync(own, { recursive: true });
      }
    },
  };
}

/** What is logged meanwhile. */
async function logged(run: () => Promise<unknown>): Promise<unknown[]> {
  const { log } = console;
  const lines: unknown[] = [];
  console.log = (...values: unknown[]) => {
    lines.push(...values);
  };
  try {
    await run();
  } finally {
    console.log = log;
  }
  return lines;
}
