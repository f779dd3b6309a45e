import { useEffect, useRef } from 'react';
import { useText } from '../../text/TextProvider.tsx';
import { useOverflowCue } from '../figures/useOverflowCue.ts';
import { loadFormulaFonts } from '../styles/fonts.ts';
import { withWords } from './formula-words.ts';
import { plainFormula } from './plain-formula.ts';
import { markSymbols } from './symbols.ts';

type Render = (tex: string, element: HTMLElement, displayMode: boolean) => void;

let loading: Promise<Render> | null = null;

/**
 * KaTeX is loaded with the first formula and not with the page; a chapter with formulas requests it early.
 */
export function loadKatex(): Promise<Render> {
  loading ??= Promise.all([import('katex'), import('katex/dist/katex.min.css').then(loadFormulaFonts)]).then(
    ([{ default: katex }]) =>
      (tex, element, displayMode) =>
        katex.render(tex, element, { displayMode, throwOnError: false, output: 'htmlAndMathml' }),
  );
  return loading;
}

/** Resolves when the formulas that were requested so far are shown, or cannot be. */
export const formulasShown = async (): Promise<void> => {
  await loading?.catch(() => {});
};

/** A formula in TeX; until KaTeX is loaded, its characters in a line. */
export function Formula({ tex, block = false }: { readonly tex: string; readonly block?: boolean }) {
  const host = useRef<HTMLSpanElement>(null);
  const { formulas } = useText();
  useEffect(() => {
    let current = true;
    loadKatex().then(render => {
      if (!current || !host.current) return;
      render(withWords(tex, formulas), host.current, block);
      markSymbols(host.current);
    });
    return () => {
      current = false;
    };
  }, [tex, block, formulas]);
  useOverflowCue(host, { active: block, focusable: true });
  return (
    <span ref={host} className={block ? 'formula-block' : 'formula'}>
      {block ? ' ' : plainFormula(tex)}
    </span>
  );
}
