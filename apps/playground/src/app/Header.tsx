import { useEffect, useRef } from 'react';
import { useText } from '../text/TextProvider.tsx';
import { chapters } from './chapters.ts';
import { LanguageSwitch } from './LanguageSwitch.tsx';
import { ThemeToggle } from './ThemeToggle.tsx';

/** Name, chapters, language and theme, always in reach. */
export function Header({ current }: { readonly current: string | null }) {
  const text = useText();
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chapter is another link.
  useEffect(() => {
    const [bar, link] = [list.current?.parentElement, list.current?.querySelector('[aria-current]')];
    if (!bar || !link) return;
    // Not scrollIntoView: from there on Tab would begin at the link.
    const [place, chosen] = [bar.getBoundingClientRect(), link.getBoundingClientRect()];
    bar.scrollLeft += chosen.left + chosen.width / 2 - (place.left + place.width / 2);
  }, [current]);
  return (
    <header className="site-head">
      <a className="brand" href="#/">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          {[0, 1, 2].flatMap(row =>
            [0, 1, 2]
              .filter(col => col <= row)
              .map(col => (
                <rect
                  key={`${row}${col}`}
                  x={col * 7}
                  y={row * 7}
                  width="5.5"
                  height="5.5"
                  rx="1.2"
                  opacity={1 - 0.25 * (row - col)}
                />
              )),
          )}
        </svg>
        Tilewise
      </a>
      <nav className="chapters" aria-label={text.site.chapters}>
        <ol ref={list}>
          {chapters.map(({ id }, n) => (
            <li key={id}>
              <a
                href={`#/${id}`}
                aria-current={id === current ? 'page' : undefined}
                onClick={event => {
                  // The link has no state: to follow it would lose what the visitor has set here.
                  if (id !== current || event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  window.scrollTo(0, 0);
                }}
              >
                <span className="number">{n + 1}</span>
                {text.chapters[id].title}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <LanguageSwitch />
      <ThemeToggle />
    </header>
  );
}
