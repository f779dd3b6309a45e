import { type RefObject, useLayoutEffect, useState } from 'react';

/** Returns whether an element is narrower than a number of pixels, and follows changes of its size. */
export function useNarrow(ref: RefObject<HTMLElement | null>, pixels: number): boolean {
  const [isNarrow, setNarrow] = useState(false);
  // Before the first paint, so that the figure does not change its shape in front of the reader.
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => setNarrow(element.clientWidth < pixels);
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [ref, pixels]);
  return isNarrow;
}
