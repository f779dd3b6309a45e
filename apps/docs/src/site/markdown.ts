import { dirname, relative, resolve } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { basePlaceholder } from './relative-base.ts';

/**
 * Links to files outside the site lead to the repository, and links to `/playground/` lead to the playground,
 * which is published below the site.
 */
export function repositoryLinks(
  md: MarkdownRenderer,
  { pages, repository }: { readonly pages: string; readonly repository: string },
): void {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const { path } = env as { readonly path?: string };
    for (const { children } of tokens)
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href?.startsWith('/playground/')) {
          token.attrSet('href', basePlaceholder + href.slice(1));
          token.attrSet('target', '_self');
        }
        if (!href || !path || /^([a-z]+:|#|\/)/.test(href)) continue;
        const target = relative(pages, resolve(dirname(path), href));
        if (target.startsWith('..'))
          token.attrSet('href', `${repository}/tree/main/${relative('..', target)}`);
      }
  });
}

/** A block of code with the language `ts live` can be edited and run in the page. */
export function liveExamples(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  if (!fence) throw new Error('the Markdown renderer has no rule for blocks of code');
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const isLive = /^ts live\b/.test(token.info);
    if (isLive) token.info = 'ts';
    else if (/^ts continued\b/.test(token.info)) token.info = 'ts';
    const code = fence(tokens, index, options, env, self);
    if (!isLive) return code;
    return `<LiveExample code="${encodeURIComponent(token.content)}">${code}</LiveExample>`;
  };
}

/** Long names in tables may be broken after a dot, a bracket or a word, so that a table fits the page. */
export function breakableNames(md: MarkdownRenderer): void {
  const { code_inline: code } = md.renderer.rules;
  if (!code) throw new Error('the Markdown renderer has no rule for inline code');
  md.core.ruler.push('names-in-tables', ({ tokens }) => {
    let depth = 0;
    for (const { type, children } of tokens) {
      if (type === 'table_open') depth++;
      if (type === 'table_close') depth--;
      for (const token of children ?? []) if (depth > 0) token.meta = { isBreakable: true };
    }
  });
  md.renderer.rules.code_inline = (tokens, index, options, env, self) => {
    const html = code(tokens, index, options, env, self);
    return tokens[index].meta?.isBreakable
      ? html.replace(/([.(_]|[a-z](?=[A-Z]))(?=[^<>]*<\/code>)/g, '$1<wbr>')
      : html;
  };
}
