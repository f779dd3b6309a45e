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
  return { inline: typeset(inline, false), block: typeset([...Object.values(formulas), ...steps], true) };
}

/** The formulas in all texts of a part of a catalogue. */
export function formulasIn(part: unknown): string[] {
  if (typeof part === 'string')
    return pieces(part).flatMap(({ kind, text }) => (kind === 'formula' ? [text] : []));
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(formulasIn) : [];
}

function typeset(all: readonly string[], displayMode: boolean): Record<string, string> {
  return Object.fromEntries(
    all.map(tex => [tex, withoutSource(katex.renderToString(tex, { displayMode, output: 'htmlAndMathml' }))]),
  );
}

/** MathML without a copy of the TeX, which has the words of one language. */
const withoutSource = (html: string): string => html.replace(/<annotation[^>]*>.*?<\/annotation>/gs, '');

/** The module awaits its formulas, because its runner loads no texts once the module has been evaluated. */
export const typesetFormulas: Typeset = await typesetAll();
