import { type Progress, useProgress } from '../../state/progress.ts';
import { useFirstText } from '../../text/TextProvider.tsx';
import { type Chapter, chapterNumber, chapters } from '../chapters.ts';
import { Brand } from './Brand.tsx';
import { LanguageSwitch } from './LanguageSwitch.tsx';
import { ThemeToggle } from './ThemeToggle.tsx';

/** Whether all tasks of a chapter are done. */
export const isDone = ({ tasks }: Chapter, progress: Progress): boolean =>
  tasks.length > 0 && tasks.every(task => progress[task] !== undefined);

/**
 * Scrolls the bar of chapters to the current one. scrollIntoView would not do: Tab would then start at the
 * link.
 */
function moveToMiddle(link: HTMLAnchorElement | null): void {
  const bar = link?.closest('nav');
  if (!bar || !link) return;
  // Finding the places lays out the page, which the next frame does anyway.
  requestAnimationFrame(() => {
    const [place, chosen] = [bar.getBoundingClientRect(), link.getBoundingClientRect()];
    bar.scrollLeft += chosen.left + chosen.width / 2 - (place.left + place.width / 2);
  });
}

/** Name, chapters, language and theme, always on the screen. */
export function Header({ current }: { readonly current: string | null }) {
  const text = useFirstText();
  const progress = useProgress();
  return (
    <header className="site-head">
      <Brand />
      <nav className="chapters" aria-label={text.site.chapters}>
        <ol>
          {chapters.map(chapter => {
            const { id, readers } = chapter;
            const done = isDone(chapter, progress);
            return (
              <li key={id} data-readers={readers}>
                <a
                  ref={id === current ? moveToMiddle : undefined}
                  href={`#/${id}`}
                  title={text.chapters[id].title}
                  aria-current={id === current ? 'page' : undefined}
                  onClick={event => {
                    // The link has no state: following it would lose what the visitor has set here.
                    if (id !== current || event.ctrlKey || event.metaKey || event.shiftKey) return;
                    event.preventDefault();
                    window.scrollTo(0, 0);
                  }}
                >
                  <span className="number">{done ? '✓' : chapterNumber(id)}</span>
                  {text.chapters[id].short}
                  {done && <span className="visually-hidden"> ({text.site.done})</span>}
                </a>
              </li>
            );
          })}
        </ol>
      </nav>
      <LanguageSwitch />
      <ThemeToggle />
    </header>
  );
}
