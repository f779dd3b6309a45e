import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import './app.css';
import { Contents } from './Contents.tsx';
import { chapters } from './chapters.ts';
import { Header } from './Header.tsx';
import { usePlace } from './url-state.ts';

const pages: Readonly<Record<string, ComponentType>> = Object.fromEntries(
  chapters.map(({ id, load }) => [id, lazy(load)]),
);

/** The page: header, the chapter that the URL names (or the contents), and the way on. */
export function App() {
  const { chapter: id } = usePlace();
  const at = chapters.findIndex(chapter => chapter.id === id);
  const chapter = chapters[at];
  const Page = chapter && pages[chapter.id];
  const next = chapters[at + 1];

  useEffect(() => {
    document.title = chapter ? `${chapter.title} · Tilewise` : 'Tilewise: flash attention, taken apart';
    window.scrollTo(0, 0);
  }, [chapter]);

  return (
    <>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header current={chapter?.id ?? null} />
      <main id="main" tabIndex={-1}>
        {Page && chapter ? (
          <Suspense
            fallback={
              <p className="loading" role="status">
                Loading {chapter.title}…
              </p>
            }
          >
            <header className="chapter-head">
              <p className="chapter-number">Chapter {at + 1}</p>
              <h1>{chapter.title}</h1>
              <p className="chapter-blurb">{chapter.blurb}</p>
            </header>
            <Page />
            {next && (
              <nav className="next" aria-label="Next chapter">
                <a href={`#/${next.id}`}>
                  <span>Next</span>
                  <strong>{next.title}</strong>
                  <span>{next.blurb}</span>
                </a>
              </nav>
            )}
          </Suspense>
        ) : (
          <Contents />
        )}
      </main>
    </>
  );
}
