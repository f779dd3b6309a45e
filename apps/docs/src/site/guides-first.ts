import type { DefaultTheme, SiteData } from 'vitepress';

/**
 * Sorts the results of the search so that a guide comes before an export whose name has the same word. The
 * search would otherwise prefer exports, because their titles are short. A page sets this option itself,
 * because VitePress sends a function to pages as text, for which pages would need `eval`.
 */
export function guidesFirst(site: SiteData<DefaultTheme.Config>): SiteData<DefaultTheme.Config> {
  const { search } = site.themeConfig;
  if (search?.provider !== 'local') return site;
  const miniSearch = { ...search.options?.miniSearch, searchOptions: { boostDocument: weightOf } };
  return {
    ...site,
    themeConfig: { ...site.themeConfig, search: { ...search, options: { ...search.options, miniSearch } } },
  };
}

/** The weight of a result at an address. */
const weightOf = (address: string): number => (address.includes('/api/') ? 0.5 : 1);
