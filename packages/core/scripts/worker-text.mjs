import { build } from 'esbuild';

/** The script of the CPU engine's workers in one text, from its source or compiled entry file. */
export async function workerText(entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
    conditions: entry.endsWith('.ts') ? ['@tilewise/source'] : [],
    legalComments: 'none',
  });
  return outputFiles[0].text;
}
