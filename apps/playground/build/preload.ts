import type { Plugin } from 'vite';
import { evaluators } from '../src/app/evaluators.ts';

/** An emitted chunk: the fields that say which files it needs. */
interface Chunk {
  readonly fileName: string;
  readonly facadeModuleId: string | null;
  readonly imports: readonly string[];
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> };
}

/** All files that a page needs for a chunk, style sheets included. */
function filesOf(entry: Chunk, chunks: ReadonlyMap<string, Chunk>): string[] {
  const found = new Set<string>();
  const visit = (chunk: Chunk | undefined): void => {
    if (!chunk || found.has(chunk.fileName)) return;
    found.add(chunk.fileName);
    for (const css of chunk.viteMetadata?.importedCss ?? []) found.add(css);
    for (const name of chunk.imports) visit(chunks.get(name));
  };
  visit(entry);
  return [...found];
}

/**
 * The script that requests the text, its font and the chapter's files while the page's own script is still
 * loading. The chapter is named in the hash of the address, which servers do not see, so no server could send
 * these links itself.
 */
const script = (files: object): string => `<script>
      {
        const { chapters, evaluators, texts, formulas, fonts } = ${JSON.stringify(files)};
        const id = location.hash.replace(/^#\\/?/, '').split('?')[0];
        let language = new URLSearchParams(location.search).get('lang') ?? navigator.language;
        try {
          language = new URLSearchParams(location.search).get('lang') ?? localStorage.getItem('language') ?? language;
        } catch {}
        language = language.slice(0, 2) + '/';
        if (!texts[language + 'index']) language = 'en/';
        const own = Object.hasOwn(chapters, id) ? chapters[id] : null;
        const names = ['first', ...(own ? ['index', id] : [])];
        const wanted = [...fonts, ...names.flatMap(name => texts[language + name] ?? [])];
        if (own) wanted.push(...own);
        if (own && !evaluators.includes(id)) wanted.push(...formulas);
        for (const file of new Set(wanted)) {
          const link = document.createElement('link');
          link.rel = file.endsWith('.js') ? 'modulepreload' : 'preload';
          if (file.endsWith('.css')) link.as = 'style';
          if (file.endsWith('.woff2')) link.as = 'font';
          // Formulas may come after the text.
          if (formulas.includes(file)) link.fetchPriority = 'low';
          link.crossOrigin = '';
          link.href = './' + file;
          document.head.append(link);
        }
      }
    </script>`;

/** Lets the page request its chapter's files at once. */
export const preload: Plugin = {
  name: 'preload',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      if (!bundle) return html;
      const chunks = new Map(
        Object.values(bundle)
          .filter(output => output.type === 'chunk')
          .map(chunk => [chunk.fileName, chunk as Chunk]),
      );
      const given = new Set(html.match(/assets\/[^"]+/g));
      /** The files of each module whose path matches, by the name in the path. */
      const files = (path: RegExp): Record<string, string[]> =>
        Object.fromEntries(
          [...chunks.values()].flatMap(chunk => {
            const [, ...names] = path.exec(chunk.facadeModuleId ?? '') ?? [];
            return names.length > 0
              ? [[names.join('/'), filesOf(chunk, chunks).filter(file => !given.has(file))]]
              : [];
          }),
        );
      const named = (path: RegExp): string[] => Object.keys(bundle).filter(name => path.test(name));
      const all = {
        evaluators,
        chapters: files(/\/chapters\/(\w+)\/\w+Chapter\.tsx$/),
        texts: files(/\/text\/(\w+)\/(?:\w+\/)?(\w+)\.ts$/),
        formulas: [
          ...Object.values(files(/virtual:(formulas)$/)).flat(),
          ...named(/\/katex-[\w-]+\.css$/),
          ...named(/\/KaTeX_(Main-Regular|Math-Italic)-[\w-]+\.woff2$/),
        ],
        // A browser would request the font only when it lays out text.
        fonts: named(/\/inter-latin-wght-normal-[\w-]+\.woff2$/),
      };
      return html.replace('</title>', `</title>\n    ${script(all)}`);
    },
  },
};
