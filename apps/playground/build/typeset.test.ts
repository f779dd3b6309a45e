import { expect, it } from 'vitest';
import { formulas } from '../src/chapters/formulas.ts';
import { type Language, languages } from '../src/text/languages.ts';
import { formulasIn, typesetFormulas } from './typeset.ts';

/** The sources of the functions in a part of a catalogue. */
function functionsIn(part: unknown): string[] {
  if (typeof part === 'function') return [part.toString()];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(functionsIn) : [];
}

it.each(Object.keys(languages) as Language[])('typesets every formula in the texts of %s', async language => {
  const { load, first, chapters } = languages[language];
  const texts = await Promise.all([load, first, ...Object.values(chapters)].map(each => each()));
  const found = texts.flatMap(formulasIn);
  expect(found.length).toBeGreaterThan(50);
  for (const tex of found) expect(typesetFormulas.inline, tex).toHaveProperty([tex]);
  // The result of a function is not known when the page is built, so functions contain no formulas. `$1` in a
  // replacement is none.
  for (const source of texts.flatMap(functionsIn))
    expect(source).not.toMatch(/\$[^${\s\d][^$'"`]*\$|\$\d\w[^$'"`]*\$/);
});

it('contains the formulas as MathML, without their source, whose words are in one language', () => {
  for (const html of Object.values(typesetFormulas.block)) {
    expect(html).toContain('<math');
    expect(html).not.toContain('annotation');
  }
});

it('has each equation of a line in its own element, so that a phone can put it on another line', () => {
  const html = typesetFormulas.block[formulas.merge] ?? '';
  expect(html.match(/class="katex-display"/g)).toHaveLength(3);
});

it('has each word in its own element of the MathML and of the HTML, so that both can be translated', () => {
  for (const of of Object.values(typesetFormulas)) {
    for (const [tex, html] of Object.entries(of)) {
      const texts = [...html.matchAll(/>([^<>]+)</g)].map(([, text = '']) => text.replaceAll('\u00a0', ' '));
      const words = [...tex.matchAll(/\\text\{([^}]*)\}/g)].map(([, word]) => word);
      for (const word of new Set(words)) {
        const uses = words.filter(other => other === word).length;
        expect(texts.filter(text => text === word).length, `${word} in ${tex}`).toBe(2 * uses);
      }
    }
  }
});
