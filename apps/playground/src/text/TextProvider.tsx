import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { en } from './en/index.ts';
import { initialLanguage, type Language, languages } from './languages.ts';
import type { Text } from './text.ts';

interface Spoken {
  readonly language: Language;
  readonly text: Text;
}

interface Speech extends Spoken {
  readonly choose: (language: Language) => void;
}

const Speaking = createContext<Speech>({ language: 'en', text: en, choose: () => {} });

/** What the page says, in the visitor's language. */
export const useText = (): Text => useContext(Speaking).text;

/** The visitor's language, and how to change it. */
export function useLanguage(): [Language, (language: Language) => void] {
  const { language, choose } = useContext(Speaking);
  return [language, choose];
}

const storageKey = 'language';

/** The language to begin with, and its catalogue. When that cannot be loaded, English is there. */
export async function firstWords(): Promise<Spoken> {
  const { search } = window.location;
  const language = initialLanguage({ search, stored: stored(), preferred: navigator.languages });
  try {
    return { language, text: await languages[language].load() };
  } catch {
    return { language: 'en', text: en };
  }
}

/**
 * Gives the page below it its text. The language is in the address, so that a link is read as it was written.
 */
export function TextProvider({ first, children }: { readonly first: Spoken; readonly children: ReactNode }) {
  const [spoken, setSpoken] = useState(first);
  useEffect(() => {
    document.documentElement.lang = spoken.language;
  }, [spoken]);
  const speech = useMemo(
    () => ({
      ...spoken,
      choose: async (language: Language): Promise<void> => {
        const text = await languages[language].load();
        store(language);
        const { pathname, hash } = window.location;
        window.history.replaceState(null, '', `${pathname}?lang=${language}${hash}`);
        setSpoken({ language, text });
      },
    }),
    [spoken],
  );
  return <Speaking value={speech}>{children}</Speaking>;
}

function stored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

function store(language: Language): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Without storage the choice is in the address alone.
  }
}
