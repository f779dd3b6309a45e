import { useSyncExternalStore } from 'react';

/** The visitor's progress: the fewest cycles of each exercise by its name, and 0 for each quiz. */
export type Progress = Readonly<Record<string, number>>;

const storageKey = 'tilewise.progress';
const listeners = new Set<() => void>();
let progress: Progress | null = null;

function read(): Progress {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return {};
    const entries = Object.entries(stored).filter((entry): entry is [string, number] =>
      Number.isFinite(entry[1]),
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

const current = (): Progress => {
  progress ??= read();
  return progress;
};

/** Records that a task is done; an exercise keeps its fewest cycles. */
export function noteDone(task: string, cycles = 0): void {
  const before = current()[task];
  if (before !== undefined && before <= cycles) return;
  progress = { ...current(), [task]: cycles };
  try {
    localStorage.setItem(storageKey, JSON.stringify(progress));
  } catch {
    // Without storage, the marks last as long as the page.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The visitor's progress so far, in this browser. */
export const useProgress = (): Progress => useSyncExternalStore(subscribe, current);
