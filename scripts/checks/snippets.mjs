// The examples of Markdown pages, as TypeScript files.

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
