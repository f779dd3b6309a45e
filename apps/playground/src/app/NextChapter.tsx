import { useFirstText } from '../text/TextProvider.tsx';
import { chapters } from './chapters.ts';

/** The way on at the end of a chapter. */
export function NextChapter({ after }: { readonly after: string }) {
  const text = useFirstText();
  const next = chapters[chapters.findIndex(({ id }) => id === after) + 1];
  if (!next) return null;
  return (
    <nav className="next" aria-label={text.site.nextChapter}>
      <a href={`#/${next.id}`}>
        <span>{text.site.next}</span>
        <strong>{text.chapters[next.id].title}</strong>
        <span>{text.chapters[next.id].blurb}</span>
      </a>
    </nav>
  );
}
