import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { workerText } from '../../packages/core/scripts/worker-text.mjs';
import { offline } from './build/offline.ts';
import { staticPages } from './build/static-pages.ts';

/** With these a page is cross-origin isolated, which is what threads that share memory ask for. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/**
 * Gives the CPU engine the script of its workers, as the build of its package does: here it is taken from its
 * sources.
 */
const cpuWorkers: Plugin = {
  name: 'cpu-workers',
  async load(id) {
    const [, folder] = /^(.*\/core\/src\/cpu\/threads\/)worker-source\.ts$/.exec(id) ?? [];
    if (folder === undefined) return null;
    return `export const workerSource = ${JSON.stringify(await workerText(`${folder}worker.ts`))};`;
  },
};

export default defineConfig({
  // Relative, so that a build works from any sub-path.
  base: './',
  plugins: [react(), cpuWorkers, staticPages, offline],
  resolve: { conditions: ['@tilewise/source', 'browser', 'module', 'import', 'default'] },
  // Workers load parts on demand, as the page does.
  worker: { format: 'es', plugins: () => [cpuWorkers] },
  server: { headers },
  preview: { headers },
  build: { target: 'es2022', chunkSizeWarningLimit: 900 },
});
