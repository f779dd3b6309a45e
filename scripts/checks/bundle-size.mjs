import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * The bytes that a page loads at the start, as one file, and the gzip bytes of each chunk that is imported
 * dynamically, by the name of its module. Two builds measure them, because esbuild moves code that a dynamic
 * chunk shares with the entry into a third file.
 */
export async function bundleSize(contents, project) {
  const options = {
    stdin: { contents, resolveDir: project, sourcefile: 'entry.js' },
    absWorkingDir: project,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  };
  const compressed = code => gzipSync(code, { level: 9 }).length;
  const dynamicImportsStayOutside = {
    name: 'dynamic imports stay outside',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      );
    },
  };
  const entry = await build({ ...options, metafile: true, plugins: [dynamicImportsStayOutside] });
  const [{ contents: code }] = entry.outputFiles;
  const [{ imports }] = Object.values(entry.metafile.outputs);
  const names = imports.map(({ path }) => basename(path, '.js'));
  const split = await build({ ...options, splitting: true, metafile: true, outdir: 'bundle' });
  const chunks = Object.entries(split.metafile.outputs).filter(
    ([, { entryPoint }]) => entryPoint && names.includes(basename(entryPoint, '.js')),
  );
  const dynamic = chunks.map(([path, { entryPoint }]) => {
    const chunk = split.outputFiles.find(file => file.path === join(project, path)).contents;
    return [basename(entryPoint, '.js'), compressed(chunk)];
  });
  return { minified: code.length, gzip: compressed(code), dynamic: Object.fromEntries(dynamic) };
}
