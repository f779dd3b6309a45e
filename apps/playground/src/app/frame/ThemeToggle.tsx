import { useEffect, useState } from 'react';
import { useFirstText } from '../../text/TextProvider.tsx';

type Theme = 'light' | 'dark';

const system = window.matchMedia('(prefers-color-scheme: dark)');

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return system.matches ? 'dark' : 'light';
}

/** Switches between light and dark. Until the visitor chooses, the theme is the system's. */
export function ThemeToggle() {
  const text = useFirstText();
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => {
    const follow = (): void => setTheme(currentTheme());
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  const other: Theme = theme === 'dark' ? 'light' : 'dark';
  const change = (): void => {
    document.documentElement.dataset.theme = other;
    try {
      localStorage.setItem('theme', other);
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
    setTheme(other);
  };
  return (
    <button type="button" className="theme" onClick={change} aria-label={text.site.theme[other]}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="7.5" fill="none" stroke="currentColor" strokeWidth="1.6" />
        <path d="M10 2.5a7.5 7.5 0 0 1 0 15z" fill="currentColor" />
      </svg>
    </button>
  );
}
