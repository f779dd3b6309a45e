import { useEffect } from 'react';
import { useFirstText } from '../text/TextProvider.tsx';
import { SectionLink } from '../ui/prose/SectionLink.tsx';
import './app.css';
import { Arrival } from '../state/Arrival.tsx';
import { usePlace } from '../state/url-state.ts';
import { ChapterBoundary } from './chapter-page/ChapterBoundary.tsx';
import { ChapterPage } from './chapter-page/ChapterPage.tsx';
import { chapterNumber, chapters } from './chapters.ts';
import { Home } from './first-page/Home.tsx';
import { Header } from './frame/Header.tsx';
import { NextChapter } from './frame/NextChapter.tsx';

/** The page: header, the chapter that the URL names (or the first page), and links to go on from there. */
export function App() {
  const text = useFirstText();
  const { chapter: id } = usePlace();
  const chapter = chapters.find(one => one.id === id);
  const words = chapter && text.chapters[chapter.id];
  const number = chapterNumber(id);
  const title = words?.title;

  useEffect(() => {
    document.title = title ? `${title} · Tilewise` : text.site.title;
  }, [title, text]);
  // A browser would open a file that is dropped where no element accepts it, and leave the page.
  useEffect(() => {
    const stay = (event: DragEvent): void => event.preventDefault();
    window.addEventListener('dragover', stay);
    window.addEventListener('drop', stay);
    return () => {
      window.removeEventListener('dragover', stay);
      window.removeEventListener('drop', stay);
    };
  }, []);

  const loading = words && (
    <p className="loading" role="status">
      {text.site.loading(words.title)}
    </p>
  );
  return (
    <>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        {text.site.skip}
      </button>
      <Header current={chapter?.id ?? null} />
      <main id="main" tabIndex={-1}>
        <Arrival key={id} />
        {chapter && words ? (
          <ChapterBoundary key={id} {...text.site.boundary}>
            <header className="chapter-head">
              <p className="chapter-number">
                {number === null ? text.site.evaluators : text.site.chapter(number)}
              </p>
              <div className="section-title">
                <h1>{words.title}</h1>
                <SectionLink />
              </div>
              <p className="chapter-blurb">{words.blurb}</p>
            </header>
            <ChapterPage chapter={chapter} fallback={loading}>
              <NextChapter after={id} />
            </ChapterPage>
          </ChapterBoundary>
        ) : (
          <>
            {id !== '' && (
              <p className="note" role="status">
                {text.site.noSuchPage(id)}
              </p>
            )}
            <Home />
          </>
        )}
      </main>
    </>
  );
}
