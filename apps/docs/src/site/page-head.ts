import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HeadConfig, PageData, TransformContext } from 'vitepress';
import { pageOf } from '../api/api-page.ts';
import { moduleSummaries } from '../api/module-summaries.ts';

/** The greatest length of a description, in characters: about what search engines show. */
const longest = 200;

/** The summaries of import paths, by the names of their pages. */
const summaries = new Map(Object.entries(moduleSummaries).map(([path, text]) => [pageOf(path), text]));

/**
 * Gives a page the description that search engines and previews of links show: that of its frontmatter, else
 * the first sentences of its text. `folder` holds the pages.
 */
export function describe(page: PageData, folder: string): Partial<PageData> {
  if (page.frontmatter.description !== undefined) return {};
  const { module } = (page.params ?? {}) as { readonly module?: string };
  const text =
    module === undefined ? readFileSync(join(folder, page.filePath), 'utf8') : (summaries.get(module) ?? '');
  return { description: descriptionOf(text) };
}

/**
 * The first sentences of a text in Markdown, as plain text. Headings, code, lists and tables are left out.
 */
export function descriptionOf(markdown: string): string {
  const paragraph = markdown
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^(?:```|:::)[\s\S]*?^(?:```|:::)$/gm, '')
    .split(/\n\s*\n/)
    .map(block => block.trim())
    .find(block => /^[^#|<>\-\d]/.test(block));
  const plain = (paragraph ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]|\\(?=[_*[\]])/g, '')
    .replace(/\s+/g, ' ');
  const sentences = plain.match(/.+?[.:](?= [A-Z]|$)/g) ?? [plain];
  let description = '';
  for (const sentence of sentences) {
    if (description !== '' && (description + sentence).length > longest) break;
    description += sentence;
  }
  return description.replace(/:$/, '.');
}

/** The meta elements for previews of links to a page. A picture needs the address of the published site. */
export function socialCard(
  { title, description }: Pick<TransformContext, 'title' | 'description'>,
  homepage: string | undefined,
): HeadConfig[] {
  const card: HeadConfig[] = [
    ['meta', { property: 'og:type', content: 'article' }],
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: description }],
  ];
  if (homepage === undefined) return [...card, ['meta', { name: 'twitter:card', content: 'summary' }]];
  // The picture of the playground, which is published below the site.
  const image = `${homepage.replace(/\/*$/, '')}/playground/og/home.jpg`;
  return [
    ...card,
    ['meta', { property: 'og:image', content: image }],
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ];
}
