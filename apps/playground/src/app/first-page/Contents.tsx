import { useProgress } from '../../state/progress.ts';
import { useFirstText } from '../../text/TextProvider.tsx';
import { type Chapter, chapterNumber, chapters } from '../chapters.ts';

/** The chapters for one kind of reader, with the share of each that the visitor has done. */
export function Contents({ readers }: { readonly readers: Chapter['readers'] }) {
  const text = useFirstText();
  const progress = useProgress();
  return (
    <ol className="contents">
      {chapters
        .filter(chapter => chapter.readers === readers)
        .map(({ id, tasks }) => {
          const done = tasks.filter(task => progress[task] !== undefined).length;
          return (
            <li key={id}>
              <a href={`#/${id}`}>
                <span className="number">{chapterNumber(id)}</span>
                <strong>{text.chapters[id].title}</strong>
                <span>{text.chapters[id].blurb}</span>
                {done > 0 && <span className="done">{text.site.tasksDone(done, tasks.length)}</span>}
              </a>
            </li>
          );
        })}
    </ol>
  );
}
