import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run.mjs';

const program =
  "import { smokeCpu } from './smoke.mjs';\nsmokeCpu().then(text => console.log(text), error => { console.error(error); process.exit(1); });\n";

/** Runs the packages in bundles: each bundler produces one file, or a site, which then runs in Node. */
export function bundlerChecks({ folder, add }) {
  writeFileSync(join(folder, 'entry.mjs'), program);
  const versionOf = name =>
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
  const bundle = (name, packages, command, out) => ({
    where: name,
    what: 'bundle, which then runs on the CPU',
    run: () => {
      add(...packages);
      run(folder, process.execPath, command());
      const text = run(folder, process.execPath, [out]).trim().split('\n').at(-1);
      return `${versionOf(packages[0])}: ${text}`;
    },
  });
  const bin = (name, file) => join(folder, 'node_modules', name, file);
  writeFileSync(
    join(folder, 'vite.config.mjs'),
    "export default { build: { ssr: 'entry.mjs', outDir: 'out-vite', rollupOptions: { output: { entryFileNames: 'entry.mjs' } } }, ssr: { noExternal: true } };\n",
  );
  return [
    bundle(
      'esbuild',
      ['esbuild'],
      () => [
        bin('esbuild', 'bin/esbuild'),
        'entry.mjs',
        '--bundle',
        '--format=esm',
        '--platform=node',
        '--outfile=out-esbuild.mjs',
        '--log-level=error',
      ],
      'out-esbuild.mjs',
    ),
    bundle(
      'Vite',
      ['vite'],
      () => [bin('vite', 'bin/vite.js'), 'build', '--logLevel', 'error'],
      'out-vite/entry.mjs',
    ),
    bundle(
      'Rollup',
      ['rollup', '@rollup/plugin-node-resolve'],
      () => [
        bin('rollup', 'dist/bin/rollup'),
        'entry.mjs',
        '--plugin',
        'node-resolve',
        '--dir',
        'out-rollup',
        '--entryFileNames',
        'entry.mjs',
        '--format',
        'es',
        '--silent',
      ],
      'out-rollup/entry.mjs',
    ),
    bundle(
      'webpack',
      ['webpack', 'webpack-cli'],
      () => [
        bin('webpack-cli', 'bin/cli.js'),
        '--mode',
        'production',
        '--target',
        'node',
        '--entry',
        './entry.mjs',
        '--output-path',
        join(folder, 'out-webpack'),
        '--output-filename',
        'entry.cjs',
      ],
      'out-webpack/entry.cjs',
    ),
    {
      where: 'Next.js',
      what: 'a page that is computed when it is built',
      run: () => {
        const site = join(folder, 'next-site');
        mkdirSync(join(site, 'app'), { recursive: true });
        add('next', 'react', 'react-dom');
        writeFileSync(
          join(site, 'app', 'layout.js'),
          'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }\n',
        );
        writeFileSync(
          join(site, 'app', 'page.js'),
          "import { smokeCpu } from '../../smoke.mjs';\nexport default async function Page() { return <p>{await smokeCpu()}</p>; }\n",
        );
        writeFileSync(
          join(site, 'next.config.mjs'),
          "export default { output: 'export', experimental: { externalDir: true } };\n",
        );
        run(site, process.execPath, [bin('next', 'dist/bin/next'), 'build', '--webpack'], {
          NEXT_TELEMETRY_DISABLED: '1',
        });
        const text = /<p>([^<]+)<\/p>/.exec(readFileSync(join(site, 'out', 'index.html'), 'utf8'))?.[1];
        if (!text) throw new Error('the page has no result');
        return `${versionOf('next')}: ${text}`;
      },
    },
  ];
}
