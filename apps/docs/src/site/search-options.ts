import type { DefaultTheme, SiteData } from 'vitepress';

/**
 * Adds the options of the search that are functions. A page sets these options itself, because VitePress
 * sends a function to pages as text, for which pages would need `eval`.
 */
export function withSearchOptions(site: SiteData<DefaultTheme.Config>): SiteData<DefaultTheme.Config> {
  const { search } = site.themeConfig;
  if (search?.provider !== 'local') return site;
  const searchOptions = { boostDocument: weightOf, processTerm: spellings };
  const miniSearch = { ...search.options?.miniSearch, searchOptions };
  return {
    ...site,
    themeConfig: { ...site.themeConfig, search: { ...search, options: { ...search.options, miniSearch } } },
  };
}

/**
 * The weight of a result at an address: a guide comes before an export whose name has the same word. The
 * search would otherwise prefer exports, because their titles are short.
 */
const weightOf = (address: string): number => (address.includes('/api/') ? 0.5 : 1);

/** The terms to look for: the pages have British spelling, and many readers write quantize and neighbor. */
function spellings(word: string): string[] {
  const term = word.toLowerCase();
  const british = term.replace(/iz(?=[aei])/, 'is').replace(/(colo|neighbo|behavio)r/, '$1ur');
  return [...new Set([term, british])];
}
