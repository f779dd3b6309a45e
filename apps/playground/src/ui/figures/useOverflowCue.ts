import { type RefObject, useEffect } from 'react';

/**
 * Marks an element whose content is wider than the element: `data-more` says on which sides the content
 * continues (`start`, `end`, `both`), and the style sheet fades these edges. With `focusable`, the element
 * can take the focus while there is something to scroll, so that the keyboard can scroll it.
 */
export function useOverflowCue(
  ref: RefObject<HTMLElement | null>,
  { active = true, focusable = false }: { readonly active?: boolean; readonly focusable?: boolean } = {},
): void {
  useEffect(() => {
    const element = ref.current;
    if (!element || !active) return;
    const mark = (): void => {
      const beyond = element.scrollWidth - element.clientWidth;
      const [before, after] = [element.scrollLeft > 1, element.scrollLeft < beyond - 1];
      if (before || after) element.dataset.more = before && after ? 'both' : before ? 'start' : 'end';
      else delete element.dataset.more;
      if (focusable && beyond > 1) element.tabIndex = 0;
      else if (focusable) element.removeAttribute('tabindex');
    };
    const sizes = new ResizeObserver(mark);
    // An observer that begins to observe an element is called after the next layout. Reading the sizes here
    // would lay out the page once for each element.
    const measure = (): void => {
      sizes.disconnect();
      for (const one of [element, ...element.children]) sizes.observe(one);
    };
    measure();
    // Content may be added later, such as a formula once formulas are loaded.
    const contents = new MutationObserver(measure);
    contents.observe(element, { childList: true, subtree: true });
    element.addEventListener('scroll', mark, { passive: true });
    return () => {
      sizes.disconnect();
      contents.disconnect();
      element.removeEventListener('scroll', mark);
    };
  }, [ref, active, focusable]);
}
