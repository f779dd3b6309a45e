import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { firstEn } from './en/first.ts';
import { initialLanguage, type Language, languages } from './languages.ts';
import type { FirstText, Text } from './text.ts';

interface Spoken {
  readonly language: Language;
  readonly first: FirstText;
}

interface Speech extends Spoken {
  /** All that is said in this language; null while it is not loaded, an error when it cannot be. */
  readonly text: Text | Error | null;
  readonly want: () => void;
  readonly choose: (language: Language) => void;
}

const Speaking = createContext<Speech>({
  language: 'en',
  first: firstEn,
  text: null,
  want: () => {},
  choose: () => {},
});

/** The text of the first page and of the frame of every page, in the visitor's language. */
export const useFirstText = (): FirstText => useContext(Speaking).first;

/** The text of chapters. Only for components inside `WholeText`. */
export function useText(): Text {
  const { text } = useContext(Speaking);
  if (text === null || text instanceof Error) throw new Error('This is outside WholeText.');
  return text;
}

/** The visitor's language, and how to change it. */
export function useLanguage(): [Language, (language: Language) => void] {
  const { language, choose } = useContext(Speaking);
  return [language, choose];
}

/** Shows its children when the text of the chapters is there. */
export function WholeText(props: {
  readonly fallback: ReactNode;
  /** Makes what is thrown when the text cannot be loaded. */
  readonly failure: (message: string) => Error;
  readonly children: ReactNode;
}) {
  const { fallback, failure, children } = props;
  const { text, want } = useContext(Speaking);
  useEffect(want, [want]);
  if (text instanceof Error) throw failure(text.message);
  return text === null ? fallback : children;
}

const storageKey = 'language';

/** The language to begin with. */
export function startLanguage(): Language {
  const { search } = window.location;
  return initialLanguage({ search, stored: stored(), preferred: navigator.languages });
}

/** The language to begin with, and the text of the first page. Where that cannot be loaded, it is English. */
export async function firstWords(): Promise<Spoken> {
  const language = startLanguage();
  try {
    return { language, first: await languages[language].first() };
  } catch {
    return { language: 'en', first: firstEn };
  }
}

/**
 * Gives the page below it its text. The language is in the address, so that a link is read as it was written.
 * `whole` is the text of the chapters in the first language, where it is loaded already.
 */
export function TextProvider(props: {
  readonly first: Spoken;
  readonly whole: Text | null;
  readonly children: ReactNode;
}) {
  const { first, whole, children } = props;
  const [spoken, setSpoken] = useState(first);
  const [loaded, setLoaded] = useState<{ readonly language: Language; readonly text: Text | Error } | null>(
    whole && { language: first.language, text: whole },
  );
  useEffect(() => {
    document.documentElement.lang = spoken.language;
  }, [spoken]);
  const speech = useMemo(() => {
    const load = (language: Language): Promise<Text | Error> =>
      languages[language]
        .load()
        .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    return {
      ...spoken,
      text: loaded && loaded.language === spoken.language ? loaded.text : null,
      want: (): void => {
        const { language } = spoken;
        if (loaded?.language !== language) load(language).then(text => setLoaded({ language, text }));
      },
      choose: async (language: Language): Promise<void> => {
        const [words, text] = await Promise.all([languages[language].first(), load(language)]);
        store(language);
        const { pathname, hash } = window.location;
        window.history.replaceState(null, '', `${pathname}?lang=${language}${hash}`);
        setLoaded({ language, text });
        setSpoken({ language, first: words });
      },
    };
  }, [spoken, loaded]);
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
