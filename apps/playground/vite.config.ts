import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  // Relative, so that a build works from any sub-path.
  base: './',
  plugins: [react()],
  resolve: { conditions: ['@tilewise/source', 'browser', 'module', 'import', 'default'] },
  // Workers load parts on demand, as the page does.
  worker: { format: 'es' },
  build: { target: 'es2022', chunkSizeWarningLimit: 900 },
});
