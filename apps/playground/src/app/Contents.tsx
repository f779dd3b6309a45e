import { chapters } from './chapters.ts';

/** The first page: what this is, and the chapters. */
export function Contents() {
  return (
    <>
      <header className="chapter-head">
        <h1>Flash attention, taken apart</h1>
        <p className="chapter-blurb">
          Program a machine with three registers, and by small steps arrive at the kernels that run on your
          own GPU: forward, backward, dropout and all.
        </p>
      </header>
      <ol className="contents">
        {chapters.map(({ id, title, blurb }, n) => (
          <li key={id}>
            <a href={`#/${id}`}>
              <span className="number">{n + 1}</span>
              <strong>{title}</strong>
              <span>{blurb}</span>
            </a>
          </li>
        ))}
      </ol>
    </>
  );
}
