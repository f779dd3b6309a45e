import page from '../../../../../packages/graph/OPERATIONS.md?raw';

/** What each operation computes, by kind: the first paragraph of its section. */
const summaries = new Map(
  [...page.matchAll(/^## (\w+)\n\n(.+)$/gm)].map(([, kind, summary]) => [kind, summary] as const),
);

/** What an operation computes, in English. */
export function operationSummary(kind: string): string {
  return summaries.get(kind) ?? '';
}
