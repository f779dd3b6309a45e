import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { workerText } from '../../packages/core/scripts/worker-text.mjs';
import { formulas } from './build/formulas.ts';
import { offline } from './build/offline.ts';
import { preload } from './build/preload.ts';
import { staticPages } from './build/static-pages.ts';

/** Headers that make a page cross-origin isolated, which threads with shared memory require. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/**
 * Gives the CPU engine its workers' script, as its package's build does; here the script comes from the
 * sources.
 */
const cpuWorkers: Plugin = {
  name: 'cpu-workers',
  async load(id) {
    const [, folder] = /^(.*\/core\/src\/cpu\/)threads\/worker-source\.ts$/.exec(id) ?? [];
    if (folder === undefined) return null;
    return `export const workerSource = ${JSON.stringify(await workerText(`${folder}worker.ts`))};`;
  },
};

/**
 * Bundles what every page needs, and what most chapters need, into one file each, because many small files
 * wait for each other.
 */
const groups = [
  { name: 'numbers', test: /\/src\/text\/numbers/, priority: 4 },
  { name: 'CodeEditor', test: /node_modules\/(@codemirror|@lezer|style-mod|crelt|w3c-keyname)/, priority: 3 },
  {
    name: 'page',
    test: /node_modules\/(react|react-dom|scheduler)\/|\/src\/(app|state|text\/TextProvider)/,
    priority: 2,
  },
  {
    name: 'reading',
    test: /\/src\/(exercises\/(quiz|workbench\/(?!editor\/CodeEditor))|text\/(markup|say)|ui\/(tiles\/Tile|(?!tiles)\w+\/(?!Chart|Formula|ScrollRegion|SectionLink|SymbolScope|symbols|useOverflowCue|file|save)))/,
    minShareCount: 3,
    priority: 1,
  },
];

export default defineConfig({
  // Relative, so that a build works from any sub-path.
  base: './',
  plugins: [react(), cpuWorkers, formulas, staticPages, preload, offline],
  resolve: { conditions: ['@tilewise/source', 'browser', 'module', 'import', 'default'] },
  // Workers load code on demand, as the page does.
  worker: { format: 'es', plugins: () => [cpuWorkers] },
  server: { headers },
  preview: { headers },
  build: {
    target: 'es2022',
    chunkSizeWarningLimit: 900,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
});
