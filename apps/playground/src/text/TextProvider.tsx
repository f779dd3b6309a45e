import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { firstEn } from './en/first.ts';
import { initialLanguage, type Language, languages } from './languages.ts';
import type { FirstText, Text } from './text.ts';

/** A language, and its text of the first page. */
interface LanguageText {
  readonly language: Language;
  readonly first: FirstText;
}

interface TextState extends LanguageText {
  /** The text of chapters; null until it has been loaded, and an error if it cannot be loaded. */
  readonly text: Text | Error | null;
  /** Loads the text of chapters, if it is not loaded. */
  readonly load: () => void;
  readonly choose: (language: Language) => void;
}

const TextContext = createContext<TextState>({
  language: 'en',
  first: firstEn,
  text: null,
  load: () => {},
  choose: () => {},
});

/** The text of the first page and of the frame of every page, in the visitor's language. */
export const useFirstText = (): FirstText => useContext(TextContext).first;

/** The text of chapters. Only for components inside `WholeText`. */
export function useText(): Text {
  const { text } = useContext(TextContext);
  if (text === null || text instanceof Error)
    throw new Error('useText was called outside WholeText, before the text was loaded.');
  return text;
}

/** The visitor's language, and how to change it. */
export function useLanguage(): [Language, (language: Language) => void] {
  const { language, choose } = useContext(TextContext);
  return [language, choose];
}

/** Loads the text of chapters, and shows `fallback` until the text is loaded, then the children. */
export function WholeText(props: {
  readonly fallback: ReactNode;
  /** Makes the error that is thrown if the text cannot be loaded. */
  readonly failure: (message: string) => Error;
  readonly children: ReactNode;
}) {
  const { fallback, failure, children } = props;
  const { text, load } = useContext(TextContext);
  useEffect(load, [load]);
  if (text instanceof Error) throw failure(text.message);
  return text === null ? fallback : children;
}

const storageKey = 'language';

/** The language to begin with. */
export function startLanguage(): Language {
  const { search } = window.location;
  return initialLanguage({ search, stored: stored(), preferred: navigator.languages });
}

/**
 * The language to begin with, and its text of the first page. If the text cannot be loaded, both are English.
 */
export async function startText(): Promise<LanguageText> {
  const language = startLanguage();
  try {
    return { language, first: await languages[language].first() };
  } catch {
    return { language: 'en', first: firstEn };
  }
}

/**
 * Gives the components below it their text. The address names a chosen language, so that a visitor who
 * follows a link reads the page in the language of the sender. `whole` is the text of chapters in the first
 * language, if it is loaded already.
 */
export function TextProvider(props: {
  readonly first: LanguageText;
  readonly whole: Text | null;
  readonly children: ReactNode;
}) {
  const { first, whole, children } = props;
  const [current, setCurrent] = useState(first);
  const [loaded, setLoaded] = useState<{ readonly language: Language; readonly text: Text | Error } | null>(
    whole && { language: first.language, text: whole },
  );
  useEffect(() => {
    document.documentElement.lang = current.language;
  }, [current]);
  const state = useMemo(() => {
    const request = (language: Language): Promise<Text | Error> =>
      languages[language]
        .load()
        .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    return {
      ...current,
      text: loaded && loaded.language === current.language ? loaded.text : null,
      load: (): void => {
        const { language } = current;
        if (loaded?.language !== language) request(language).then(text => setLoaded({ language, text }));
      },
      choose: async (language: Language): Promise<void> => {
        const [words, text] = await Promise.all([languages[language].first(), request(language)]);
        store(language);
        const { pathname, hash } = window.location;
        window.history.replaceState(null, '', `${pathname}?lang=${language}${hash}`);
        setLoaded({ language, text });
        setCurrent({ language, first: words });
      },
    };
  }, [current, loaded]);
  return <TextContext value={state}>{children}</TextContext>;
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
    // Without storage, only the address keeps the choice.
  }
}
