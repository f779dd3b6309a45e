import { fileURLToPath } from 'node:url';
import { type Plugin, runnerImport } from 'vite';
import type { Typeset } from './typeset.ts';

const name = 'virtual:formulas';

/**
 * Typesets the formulas when the page is built, because KaTeX is larger than all their HTML, compressed, and
 * a phone takes long to run it.
 */
export const formulas: Plugin = {
  name: 'formulas',
  resolveId: id => (id === name ? `\0${name}` : null),
  async load(id) {
    if (id !== `\0${name}`) return null;
    const path = fileURLToPath(new URL('./typeset.ts', import.meta.url));
    const { module, dependencies } = await runnerImport<{ readonly typesetFormulas: Typeset }>(path);
    for (const file of [path, ...dependencies]) this.addWatchFile(file);
    const { inline, block } = module.typesetFormulas;
    return `export const inline = ${JSON.stringify(inline)}; export const block = ${JSON.stringify(block)};`;
  },
};
