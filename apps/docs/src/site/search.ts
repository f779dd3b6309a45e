import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { apiSearch, type SearchSection } from '../api/api-search.ts';
import { readApi } from '../api/read-api.ts';

type MiniSearchOptions = NonNullable<DefaultTheme.LocalSearchOptions['miniSearch']>;

let api: ReturnType<typeof apiSearch> | undefined;

/**
 * The sections of a page of the API reference, whose Markdown is generated. VitePress splits all other pages
 * itself.
 */
function sectionsOf(file: string): SearchSection[] | undefined {
  if (existsSync(file)) return undefined;
  api ??= apiSearch(readApi());
  return api.get(basename(file, '.md'));
}

/** The search of the site. Its index is a file, so no service is needed. */
export const search: DefaultTheme.Config['search'] = {
  provider: 'local',
  options: {
    miniSearch: { _splitIntoSections: sectionsOf as MiniSearchOptions['_splitIntoSections'] },
  },
};
