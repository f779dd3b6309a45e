// The examples of Markdown pages, as TypeScript files.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// The examples of `extending.md` are changes to the packages; tests in docs/ apply them.
const skipped = ['node_modules', 'src', 'dist', 'extending.md'];

/** The Markdown pages with examples in a folder and its subfolders. */
export function pagesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (skipped.includes(entry.name)) return [];
    if (entry.isDirectory()) return pagesIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/**
 * The TypeScript blocks of a page, as modules. A block `ts continued` begins with the code of the previous
 * block; blocks for a named file (`ts FILE after LINE`) are not examples.
 */
export function snippetsOf(page) {
  const snippets = [];
  for (const [, continued, code] of page.matchAll(/^```ts(?: live)?( continued)?\n(.*?)^```$/gms))
    snippets.push(continued ? `${snippets.at(-1) ?? ''}${code}` : code);
  return snippets.map(code => `${code}\nexport {};\n`);
}

/** The packages that a snippet imports, without subpaths. */
export function packagesOf(snippet) {
  const imported = [...snippet.matchAll(/(?:from|import)\s*\(?\s*'([^'.][^']*)'/g)].map(([, name]) => name);
  return [...new Set(imported.map(name => /^(?:@[^/]+\/)?[^/]+/.exec(name)[0]))];
}
