import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * The bytes that a page loads at the start, as one file, and the gzip bytes of each chunk that is imported
 * dynamically, by the page or by another such chunk, by the name of its module. Two builds measure them,
 * because esbuild moves code that a dynamic chunk shares with the entry into a third file. Code that only
 * dynamic chunks share is not measured.
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
  const split = await build({ ...options, splitting: true, metafile: true, outdir: 'bundle' });
  const { outputs } = split.metafile;
  const nameOf = path => basename(outputs[path].entryPoint ?? '', '.js');
  const first = imports.map(({ path }) => basename(path, '.js'));
  // Chunks import further ones, so the list grows while it is read.
  const chunks = Object.keys(outputs).filter(path => first.includes(nameOf(path)));
  for (const chunk of chunks) {
    for (const { kind, path } of outputs[chunk].imports) {
      if (kind === 'dynamic-import' && !chunks.includes(path)) chunks.push(path);
    }
  }
  const dynamic = chunks.map(path => {
    const chunk = split.outputFiles.find(file => file.path === join(project, path)).contents;
    return [nameOf(path), compressed(chunk)];
  });
  return { minified: code.length, gzip: compressed(code), dynamic: Object.fromEntries(dynamic) };
}
