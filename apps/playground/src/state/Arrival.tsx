import { useEffect } from 'react';
import { usePlace } from './url-state.ts';

/** How long a section may take to appear after its chapter was requested, in milliseconds. */
const timeout = 10_000;

/**
 * Scrolls to the top of a chapter, or to the section that the address names (`#/backward?section=walk-title`)
 * once the section is there. Each chapter has its own instance, by its key.
 */
export function Arrival(): null {
  const { section } = usePlace().state;
  useEffect(() => window.scrollTo(0, 0), []);
  useEffect(() => {
    if (!section) return;
    const go = (): boolean => {
      const target = document.getElementById(section);
      target?.scrollIntoView();
      return target !== null;
    };
    if (go()) return;
    const observer = new MutationObserver(() => {
      if (go()) observer.disconnect();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    const timer = setTimeout(() => observer.disconnect(), timeout);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, [section]);
  return null;
}
