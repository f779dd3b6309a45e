import type { GraphSource } from './report.ts';

/** A graph that the visitor brought as a file. */
export type GraphFile = Extract<GraphSource, { readonly kind: 'file' }>;

const key = 'tilewise.graph-file';

/** The file that was open when the page was left, or null. */
export function keptGraphFile(): GraphFile | null {
  try {
    const { name, text } = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof name === 'string' && typeof text === 'string' ? { kind: 'file', name, text } : null;
  } catch {
    return null;
  }
}

/**
 * Keeps a file for the next visit; null forgets it. A file that storage has no room for is open for this
 * visit only.
 */
export function keepGraphFile(file: GraphFile | null): void {
  try {
    localStorage.removeItem(key);
    if (file) localStorage.setItem(key, JSON.stringify({ name: file.name, text: file.text }));
  } catch {
    // A full or forbidden storage; the graph is shown all the same.
  }
}
