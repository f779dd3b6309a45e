import { use } from 'react';
import { languages } from './languages.ts';
import { useLanguage } from './TextProvider.tsx';
import type { ChapterTexts } from './text.ts';

/** Texts that have been asked for, by the function that loads them. */
const asked = new Map<() => Promise<unknown>, Promise<unknown>>();

function once<T>(load: () => Promise<T>): Promise<T> {
  // A function is kept with its own promise only.
  const before = asked.get(load) as Promise<T> | undefined;
  if (before) return before;
  const loading = load();
  asked.set(load, loading);
  loading.catch(() => asked.delete(load));
  return loading;
}

/** The text of one chapter in the visitor's language; the component waits until it is loaded. */
export function useChapterText<N extends keyof ChapterTexts>(name: N): ChapterTexts[N] {
  const [language] = useLanguage();
  return use(once(languages[language].chapters[name]));
}
