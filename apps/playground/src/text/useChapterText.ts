import { use } from 'react';
import { type Language, languages } from './languages.ts';
import { useLanguage } from './TextProvider.tsx';
import type { ChapterTexts } from './text.ts';

/** Promises of texts that were requested, by the function that loads the text. */
const requested = new Map<() => Promise<unknown>, Promise<unknown>>();
/** Texts that are loaded, by the same function. */
const loaded = new Map<() => Promise<unknown>, unknown>();

// The type of a text follows from its function, which is the key of both maps.
function once<T>(load: () => Promise<T>): Promise<T> {
  const before = requested.get(load) as Promise<T> | undefined;
  if (before) return before;
  const loading = load();
  requested.set(load, loading);
  loading.then(
    text => loaded.set(load, text),
    () => requested.delete(load),
  );
  return loading;
}

/** Loads the text of a chapter, if the chapter has a text of its own. */
export async function loadChapterText(language: Language, chapter: string): Promise<void> {
  const loaders: Readonly<Record<string, () => Promise<unknown>>> = languages[language].chapters;
  const load = Object.hasOwn(loaders, chapter) && loaders[chapter];
  if (load) await once(load);
}

/** The text of one chapter in the visitor's language; the component waits until it is loaded. */
export function useChapterText<N extends keyof ChapterTexts>(name: N): ChapterTexts[N] {
  const [language] = useLanguage();
  const load = languages[language].chapters[name];
  // `use` suspends the component for a moment even if the promise is settled.
  return (loaded.get(load) as ChapterTexts[N] | undefined) ?? use(once(load));
}
