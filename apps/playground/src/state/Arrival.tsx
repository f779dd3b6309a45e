import { useEffect } from 'react';
import { leftPlace } from './left-places.ts';
import { usePlace } from './url-state.ts';

/** How long the page may grow after a chapter was requested, in milliseconds. */
const timeout = 10_000;

/** What a visitor does to move on: from then on, the page must not move by itself. */
const acts = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/**
 * Calls `scroll` now and whenever the page has grown, because a chapter and its figures load one after the
 * other. Ends when the visitor acts. Returns a function that ends this earlier.
 */
function whileLoading(scroll: () => void): () => void {
  const sizes = new ResizeObserver(scroll);
  const end = (): void => {
    sizes.disconnect();
    clearTimeout(timer);
    for (const act of acts) window.removeEventListener(act, end, true);
  };
  const timer = setTimeout(end, timeout);
  for (const act of acts) window.addEventListener(act, end, { capture: true, passive: true });
  sizes.observe(document.body);
  scroll();
  return end;
}

/** Whether a chapter was shown before. At the first one, the focus stays at the top of the page. */
let hasArrived = false;

/**
 * Moves the focus to the content, because the link that was followed is gone, and keys and screen readers
 * would start again at the top of the page. Scrolls to the top of a chapter, to the section that the address
 * names (`#/backward?section=walk-title`), or after Back to the place that the visitor left. Each chapter has
 * its own instance, by its key.
 */
export function Arrival(): null {
  const { section } = usePlace().state;
  useEffect(() => {
    if (hasArrived) document.getElementById('main')?.focus({ preventScroll: true });
    hasArrived = true;
  }, []);
  useEffect(() => {
    const left = leftPlace();
    if (left !== null) return whileLoading(() => window.scrollTo(0, left));
    window.scrollTo(0, 0);
    if (section) return whileLoading(() => document.getElementById(section)?.scrollIntoView());
  }, [section]);
  return null;
}
