import { useEffect, useRef } from 'react';
import { useText } from '../../text/TextProvider.tsx';
import { useOverflowCue } from '../figures/useOverflowCue.ts';
import { loadFormulaFonts } from '../styles/fonts.ts';
import { withWords } from './formula-words.ts';
import { plainFormula } from './plain-formula.ts';
import { markSymbols } from './symbols.ts';

type Typeset = typeof import('virtual:formulas');

let loading: Promise<Typeset> | null = null;

/**
 * Formulas are loaded with the first one and not with the page; a chapter with formulas requests them early.
 */
export function loadFormulas(): Promise<Typeset> {
  loading ??= Promise.all([
    import('virtual:formulas'),
    import('katex/dist/katex.min.css').then(loadFormulaFonts),
  ]).then(([typeset]) => typeset);
  return loading;
}

/** Resolves when the formulas that were requested so far are shown, or cannot be. */
export const formulasShown = async (): Promise<void> => {
  await loading?.catch(() => {});
};

const noWords = {};

/**
 * A formula of the page in TeX; until formulas are loaded, its characters in a line. `words` replace words of
 * the formula, besides those that the language replaces.
 */
export function Formula({
  tex,
  block = false,
  words = noWords,
}: {
  readonly tex: string;
  readonly block?: boolean;
  readonly words?: Readonly<Record<string, string>>;
}) {
  const host = useRef<HTMLSpanElement>(null);
  const { formulas } = useText();
  // A caller may pass a new object with the same words, for which the formula is not replaced.
  const replaced = JSON.stringify(words);
  useEffect(() => {
    let current = true;
    loadFormulas().then(typeset => {
      if (!current || !host.current) return;
      const html = typeset[block ? 'block' : 'inline'][tex];
      if (html === undefined) throw new Error(`The formula ${tex} has not been typeset.`);
      host.current.innerHTML = withWords(html, { ...formulas, ...JSON.parse(replaced) });
      markSymbols(host.current);
    });
    return () => {
      current = false;
    };
  }, [tex, block, replaced, formulas]);
  useOverflowCue(host, { active: block, focusable: true });
  return (
    <span ref={host} className={block ? 'formula-block' : 'formula'}>
      {block ? ' ' : plainFormula(tex)}
    </span>
  );
}
