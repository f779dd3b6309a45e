import { useEffect } from 'react';
import { usePlace } from './url-state.ts';

/** How long a section may take to appear after its chapter was asked for, in milliseconds. */
const patience = 10_000;

/** Scrolls to the section that the address names (`#/backward?section=walk-title`) once it is there. */
export function useAnchor(): void {
  const { chapter, state } = usePlace();
  const { section } = state;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same section of another chapter is another place.
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
    const timer = setTimeout(() => observer.disconnect(), patience);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, [chapter, section]);
}
