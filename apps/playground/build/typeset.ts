import katex from 'katex';
import { derivation, stacked } from '../src/chapters/backward/derivation.ts';
import { formulas } from '../src/chapters/formulas.ts';
import { languages } from '../src/text/languages.ts';
import { pieces } from '../src/text/markup.ts';

/** HTML and MathML of formulas, by their TeX. */
export type Typeset = Readonly<Record<'inline' | 'block', Readonly<Record<string, string>>>>;

/** Typesets all formulas of the page: those in texts, and those in lines of their own. */
async function typesetAll(): Promise<Typeset> {
  const { load, chapters, first } = languages.en;
  // Other languages have the formulas of the English texts.
  const texts = await Promise.all([load, first, ...Object.values(chapters)].map(each => each()));
  const inline = texts.flatMap(formulasIn);
  const steps = derivation.flatMap(({ tex, indices = [] }) => [stacked(tex), ...indices]);
  const block = [...Object.values(formulas), ...steps];
  return { inline: typeset(inline, tex => html(tex, false)), block: typeset(block, equations) };
}

/** The formulas in all texts of a part of a catalogue. */
export function formulasIn(part: unknown): string[] {
  if (typeof part === 'string')
    return pieces(part).flatMap(({ kind, text }) => (kind === 'formula' ? [text] : []));
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(formulasIn) : [];
}

function typeset(all: readonly string[], write: (tex: string) => string): Record<string, string> {
  return Object.fromEntries(all.map(tex => [tex, write(tex)]));
}

/**
 * The equations of a formula, which wide spaces separate, each in an element of its own: on a phone, the
 * equations can stand one below the other.
 */
const equations = (tex: string): string =>
  (tex.startsWith('\\begin') ? [tex] : tex.split(/\s*\\q?quad\s*/)).map(one => html(one, true)).join('');

const html = (tex: string, displayMode: boolean): string =>
  withoutSource(katex.renderToString(tex, { displayMode, output: 'htmlAndMathml' }));

/** MathML without a copy of the TeX, which has the words of one language. */
const withoutSource = (html: string): string => html.replace(/<annotation[^>]*>.*?<\/annotation>/gs, '');

/** The module awaits its formulas, because its runner loads no texts once the module has been evaluated. */
export const typesetFormulas: Typeset = await typesetAll();
