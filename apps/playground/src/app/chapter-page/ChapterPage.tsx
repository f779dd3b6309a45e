import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { useLanguage, WholeText } from '../../text/TextProvider.tsx';
import { SymbolScope } from '../../ui/formulas/SymbolScope.tsx';
import type { Chapter } from '../chapters.ts';
import { ChapterLoadError } from './ChapterBoundary.tsx';
import { loadedPage, loadPage } from './loaded-pages.ts';

/**
 * The page of a chapter, once its code and its text are loaded. `React.lazy` would show it 300 ms late,
 * because React keeps a fallback on the screen for that long.
 */
export function ChapterPage(props: {
  readonly chapter: Chapter;
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}) {
  const { chapter, fallback, children } = props;
  const [language] = useLanguage();
  const [Page, setPage] = useState(() => loadedPage(chapter));
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (Page) return;
    let current = true;
    loadPage(chapter, language).then(
      page => current && setPage(() => page),
      error => current && setFailure(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      current = false;
    };
  }, [Page, chapter, language]);
  if (failure !== null) throw new ChapterLoadError(failure);
  return (
    <WholeText fallback={fallback} failure={message => new ChapterLoadError(message)}>
      {Page ? (
        <Suspense fallback={fallback}>
          <SymbolScope>
            <Page />
          </SymbolScope>
          {children}
        </Suspense>
      ) : (
        fallback
      )}
    </WholeText>
  );
}
