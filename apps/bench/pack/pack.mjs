// Builds a folder that measures on a Linux x86-64 machine that has a GPU driver, but no Node, no packages and
// no network.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import { build } from 'esbuild';

const own = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));
const out = join(root, '.cache/bench-pack/tilewise-bench');
const limit = 60e6;

if (process.platform !== 'linux' || process.arch !== 'x64') {
  throw new Error(
    `The pack holds this machine's Node, which must be Linux x64, not ${process.platform}-${process.arch}.`,
  );
}

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'app'), { recursive: true });

// `webgpu` loads its binary from its own folder, and SwiftShader's package is looked up by name, so both stay
// packages.
await build({
  entryPoints: {
    bench: join(root, 'apps/bench/src/commands/pack/bench-main.ts'),
    conformance: join(root, 'apps/conformance/src/main.ts'),
    join: join(root, 'apps/bench/src/commands/pack/join-main.ts'),
    doctor: join(root, 'apps/bench/src/commands/pack/doctor-main.ts'),
    measure: join(root, 'apps/bench/src/commands/pack/measure-main.ts'),
  },
  outdir: join(out, 'app'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Only `train --threads`, which the pack does not run, compiles AssemblyScript.
  external: ['webgpu', '@sparticuz/chromium', 'playwright-core', 'esbuild', 'assemblyscript/asc'],
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'error',
});

const require = createRequire(join(root, 'tools/webgpu-host/package.json'));
const modules = join(out, 'node_modules');

const webgpu = dirname(require.resolve('webgpu'));
for (const file of ['index.js', 'package.json', 'LICENSE.md']) {
  cpSync(join(webgpu, file), join(modules, 'webgpu', file));
}
await compress(join(webgpu, 'dist/linux-x64/dawn.node'), join(modules, 'webgpu/dist/linux-x64/dawn.node.gz'));

const chromium = join(dirname(require.resolve('@sparticuz/chromium')), '../..');
for (const file of ['package.json', 'bin/swiftshader.tar.br']) {
  cpSync(join(chromium, file), join(modules, '@sparticuz/chromium', file));
}
// Resolving the package needs its entry, which nothing here loads.
for (const entry of ['build/cjs/index.cjs', 'build/esm/index.js']) {
  mkdirSync(dirname(join(modules, '@sparticuz/chromium', entry)), { recursive: true });
  writeFileSync(join(modules, '@sparticuz/chromium', entry), '');
}

await compress(process.execPath, join(out, 'node.gz'));
cpSync(vectorsFolder(), join(out, 'vectors'), { recursive: true });
const files = [
  ...['start', 'torch_sdpa.py', 'torch_dropout.py', 'README.md'],
  ...['nvidia_icd.json', 'nvidia_egl_icd.json'],
];
for (const file of files) cpSync(join(own, file), join(out, file));
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
writeFileSync(join(out, 'VERSION'), `${commit}\nnode ${process.version}\n`);

const bytes = sizeOf(out);
if (bytes > limit) throw new Error(`${out} has ${bytes} bytes, more than ${limit}.`);
console.log(`${out}: ${(bytes / 1e6).toFixed(1)} MB`);

function compress(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  return pipeline(createReadStream(from), createGzip({ level: 9 }), createWriteStream(to));
}

/** The full vectors if they exist, else those of the repository. */
function vectorsFolder() {
  const shared = join(process.env.TILEWISE_SHARED ?? join(root, '../shared'), 'vectors/attention');
  try {
    readdirSync(shared);
    return shared;
  } catch {
    return join(root, 'fixtures/attention');
  }
}

function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}
