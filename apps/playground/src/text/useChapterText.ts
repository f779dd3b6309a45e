import { use } from 'react';
import { type Language, languages } from './languages.ts';
import { useLanguage } from './TextProvider.tsx';
import type { ChapterTexts } from './text.ts';

/** Texts that have been asked for, by the function that loads them. */
const asked = new Map<() => Promise<unknown>, Promise<unknown>>();
/** Those that are there. */
const loaded = new Map<() => Promise<unknown>, unknown>();

// A function is kept with its own promise and its own text only.
function once<T>(load: () => Promise<T>): Promise<T> {
  const before = asked.get(load) as Promise<T> | undefined;
  if (before) return before;
  const loading = load();
  asked.set(load, loading);
  loading.then(
    text => loaded.set(load, text),
    () => asked.delete(load),
  );
  return loading;
}

/** Asks for the text of a chapter that has one of its own. */
export async function loadChapterText(language: Language, chapter: string): Promise<void> {
  const loaders: Readonly<Record<string, () => Promise<unknown>>> = languages[language].chapters;
  const load = Object.hasOwn(loaders, chapter) && loaders[chapter];
  if (load) await once(load);
}

/** The text of one chapter in the visitor's language; the component waits until it is loaded. */
export function useChapterText<N extends keyof ChapterTexts>(name: N): ChapterTexts[N] {
  const [language] = useLanguage();
  const load = languages[language].chapters[name];
  // `use` lets the component wait for a moment even where the promise is settled.
  return (loaded.get(load) as ChapterTexts[N] | undefined) ?? use(once(load));
}
