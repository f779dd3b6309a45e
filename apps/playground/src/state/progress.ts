import { useSyncExternalStore } from 'react';

/** The visitor's progress: the fewest cycles of each exercise by its name, and 0 for each quiz. */
export type Progress = Readonly<Record<string, number>>;

const storageKey = 'tilewise.progress';
const listeners = new Set<() => void>();
let progress: Progress | null = null;

function stored(): Progress {
  try {
    const entry: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    if (typeof entry !== 'object' || entry === null) return {};
    const tasks = Object.entries(entry).filter((task): task is [string, number] => Number.isFinite(task[1]));
    return Object.fromEntries(tasks);
  } catch {
    return {};
  }
}

/** Adds what is stored, because another tab may have recorded tasks that this page does not know of yet. */
function merged(): Progress {
  const known: Record<string, number> = { ...progress };
  for (const [task, cycles] of Object.entries(stored())) {
    known[task] = Math.min(cycles, known[task] ?? cycles);
  }
  return known;
}

/** The visitor's progress so far: the same object until something is recorded. */
export const progressSoFar = (): Progress => {
  progress ??= stored();
  return progress;
};

function change(to: Progress): void {
  progress = to;
  for (const listener of listeners) listener();
}

/** Records that a task is done; an exercise keeps its fewest cycles. */
export function noteDone(task: string, cycles = 0): void {
  const known = merged();
  const before = known[task];
  if (before !== undefined && before <= cycles) return;
  const next = { ...known, [task]: cycles };
  try {
    localStorage.setItem(storageKey, JSON.stringify(next));
  } catch {
    // Without storage, the marks last as long as the page.
  }
  change(next);
}

const hearOtherTabs = ({ key }: StorageEvent): void => {
  if (key === storageKey) change(merged());
};

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('storage', hearOtherTabs);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('storage', hearOtherTabs);
  };
}

/** The visitor's progress so far, in this browser. */
export const useProgress = (): Progress => useSyncExternalStore(subscribe, progressSoFar);
