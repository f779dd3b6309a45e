import type { ApiExport, ApiModule } from './api-export.ts';
import { anchor, pageOf } from './api-page.ts';
import { moduleSummaries } from './module-summaries.ts';

/** A part of a page that the search can find. */
export interface SearchSection {
  /** The anchor of the section's heading; the page itself has none. */
  readonly anchor: string;
  /** The section's own title, after those of the sections around it. */
  readonly titles: string[];
  readonly text: string;
}

/**
 * The sections of the API reference for the search, by the names of their pages. A section has the name of an
 * export, the words of the name, the start of the documentation and the names of the members. VitePress
 * searches only pages that are files, and these pages are generated.
 */
export function apiSearch(api: readonly ApiModule[]): ReadonlyMap<string, SearchSection[]> {
  return new Map(
    api.map(({ path, exports }) => [
      pageOf(path),
      [
        { anchor: '', titles: [path], text: moduleSummaries[path] ?? '' },
        ...exports.map(one => ({ anchor: anchor(one.name), titles: [path, one.name], text: textOf(one) })),
      ],
    ]),
  );
}

function textOf({ name, docs, members }: ApiExport): string {
  const [start = ''] = docs.split('\n\n');
  const names = members.map(member => /^[\w.]*/.exec(member.name)?.[0] ?? '');
  return [wordsOf(name), start.replace(/\{@link\s+([^}]*)\}/g, '$1'), ...names].join(' ');
}

/** The words of a name: `planSdpaBackward` has `plan Sdpa Backward`. */
const wordsOf = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ');
