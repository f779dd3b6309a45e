import type { GraphSource } from './report.ts';

/** A graph that the visitor opened as a file. */
export type GraphFile = Extract<GraphSource, { readonly kind: 'file' }>;

const key = 'tilewise.graph-file';

/** The file that was open when the visitor left the page, or null. */
export function keptGraphFile(): GraphFile | null {
  try {
    const { name, text } = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof name === 'string' && typeof text === 'string' ? { kind: 'file', name, text } : null;
  } catch {
    return null;
  }
}

/**
 * Stores a file for the next visit; null deletes it. A file that is too large for the storage stays open for
 * this visit only.
 */
export function keepGraphFile(file: GraphFile | null): void {
  try {
    localStorage.removeItem(key);
    if (file) localStorage.setItem(key, JSON.stringify({ name: file.name, text: file.text }));
  } catch {
    // Storage is full or forbidden; the page shows the graph all the same.
  }
}
