import { useText } from '../text/TextProvider.tsx';
import { chapters } from './chapters.ts';

/** The first page: what this is, and the chapters. */
export function Contents() {
  const text = useText();
  return (
    <>
      <header className="chapter-head">
        <h1>{text.site.heading}</h1>
        <p className="chapter-blurb">{text.site.blurb}</p>
      </header>
      <ol className="contents">
        {chapters.map(({ id }, n) => (
          <li key={id}>
            <a href={`#/${id}`}>
              <span className="number">{n + 1}</span>
              <strong>{text.chapters[id].title}</strong>
              <span>{text.chapters[id].blurb}</span>
            </a>
          </li>
        ))}
      </ol>
    </>
  );
}
