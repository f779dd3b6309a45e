import { useFirstText } from '../../text/TextProvider.tsx';
import { links } from '../../ui/prose/links.ts';
import { type Chapter, chapters } from '../chapters.ts';

/** The links at the end of a chapter: the documentation on its subject, and the next chapter. */
export function NextChapter({ after }: { readonly after: string }) {
  const text = useFirstText();
  const at = chapters.findIndex(({ id }) => id === after);
  const next = chapters[at + 1];
  const docs = links.docs && chapters[at] && `${links.docs}${chapters[at].docs}.html`;
  return (
    <>
      {docs && (
        <p className="chapter-docs">
          <a href={docs}>{text.site.chapterDocs}</a>
        </p>
      )}
      {next && <NextLink {...next} />}
    </>
  );
}

function NextLink({ id }: Pick<Chapter, 'id'>) {
  const text = useFirstText();
  return (
    <nav className="next" aria-label={text.site.nextChapter}>
      <a href={`#/${id}`}>
        <span>{text.site.next}</span>
        <strong>{text.chapters[id].title}</strong>
        <span>{text.chapters[id].blurb}</span>
      </a>
    </nav>
  );
}
