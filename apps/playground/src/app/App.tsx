import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { useText } from '../text/TextProvider.tsx';
import './app.css';
import { ChapterBoundary, ChapterLoadError } from './ChapterBoundary.tsx';
import { Contents } from './Contents.tsx';
import { chapters } from './chapters.ts';
import { Header } from './Header.tsx';
import { usePlace } from './url-state.ts';

const pages: Readonly<Record<string, ComponentType>> = Object.fromEntries(
  chapters.map(({ id, load }) => [
    id,
    lazy(() =>
      load().catch(cause => {
        throw new ChapterLoadError(cause instanceof Error ? cause.message : String(cause), { cause });
      }),
    ),
  ]),
);

/** The page: header, the chapter that the URL names (or the contents), and the way on. */
export function App() {
  const text = useText();
  const { chapter: id } = usePlace();
  const at = chapters.findIndex(chapter => chapter.id === id);
  const chapter = chapters[at];
  const words = chapter && text.chapters[chapter.id];
  const Page = chapter && pages[chapter.id];
  const next = chapters[at + 1];
  const title = words?.title;

  useEffect(() => {
    document.title = title ? `${title} · Tilewise` : text.site.title;
  }, [title, text]);
  // A browser opens a file that is dropped where nobody takes it, and the page is gone.
  useEffect(() => {
    const stay = (event: DragEvent): void => event.preventDefault();
    window.addEventListener('dragover', stay);
    window.addEventListener('drop', stay);
    return () => {
      window.removeEventListener('dragover', stay);
      window.removeEventListener('drop', stay);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chapter begins at its top.
  useEffect(() => window.scrollTo(0, 0), [id]);

  return (
    <>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        {text.site.skip}
      </button>
      <Header current={chapter?.id ?? null} />
      <main id="main" tabIndex={-1}>
        {Page && words ? (
          <ChapterBoundary key={id} {...text.site.boundary}>
            <Suspense
              fallback={
                <p className="loading" role="status">
                  {text.site.loading(words.title)}
                </p>
              }
            >
              <header className="chapter-head">
                <p className="chapter-number">{text.site.chapter(at + 1)}</p>
                <h1>{words.title}</h1>
                <p className="chapter-blurb">{words.blurb}</p>
              </header>
              <Page />
              {next && (
                <nav className="next" aria-label={text.site.nextChapter}>
                  <a href={`#/${next.id}`}>
                    <span>{text.site.next}</span>
                    <strong>{text.chapters[next.id].title}</strong>
                    <span>{text.chapters[next.id].blurb}</span>
                  </a>
                </nav>
              )}
            </Suspense>
          </ChapterBoundary>
        ) : (
          <Contents />
        )}
      </main>
    </>
  );
}
