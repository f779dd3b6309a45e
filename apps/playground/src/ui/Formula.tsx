import { useEffect, useRef } from 'react';

type Render = (tex: string, element: HTMLElement, displayMode: boolean) => void;

let loading: Promise<Render> | null = null;

/** KaTeX comes with the first formula, not with the page. */
function loadKatex(): Promise<Render> {
  loading ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(
    ([{ default: katex }]) =>
      (tex, element, displayMode) =>
        katex.render(tex, element, { displayMode, throwOnError: false, output: 'htmlAndMathml' }),
  );
  return loading;
}

/** A formula in TeX; until KaTeX is there, its source. */
export function Formula({ tex, block = false }: { readonly tex: string; readonly block?: boolean }) {
  const host = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let current = true;
    loadKatex().then(render => {
      if (current && host.current) render(tex, host.current, block);
    });
    return () => {
      current = false;
    };
  }, [tex, block]);
  useEffect(() => {
    const element = host.current;
    if (!element || !block) return;
    // One that is wider than its place scrolls: it takes the focus, so that the keyboard can scroll it.
    const observer = new ResizeObserver(() => {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute('tabindex');
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [block]);
  return (
    <span ref={host} className={block ? 'formula-block' : 'formula'}>
      {block ? ' ' : tex}
    </span>
  );
}
