import page from '../../../../../packages/graph/OPERATIONS.md?raw';

/** The sentences about each operation, by kind: the first paragraph of its section on the page. */
const summaries = new Map(
  [...page.matchAll(/^## (\w+)\n\n(.+)$/gm)].map(([, kind, summary]) => [kind, summary] as const),
);

/** The English sentences that say what an operation computes; empty for an unknown kind. */
export function operationSummary(kind: string): string {
  return summaries.get(kind) ?? '';
}
