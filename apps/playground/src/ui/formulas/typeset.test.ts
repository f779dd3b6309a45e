import { expect, it } from 'vitest';
import { typesetFormulas } from '../../../build/typeset.ts';
import { type Language, languages } from '../../text/languages.ts';

const formula = /\$([^$]+)\$/g;

/** The strings of a part of a catalogue, and the sources of its functions. */
function valuesIn(part: unknown): { readonly strings: string[]; readonly functions: string[] } {
  if (typeof part === 'string') return { strings: [part], functions: [] };
  if (typeof part === 'function') return { strings: [], functions: [part.toString()] };
  const parts = typeof part === 'object' && part !== null ? Object.values(part).map(valuesIn) : [];
  return {
    strings: parts.flatMap(({ strings }) => strings),
    functions: parts.flatMap(({ functions }) => functions),
  };
}

it.each(Object.keys(languages) as Language[])('typesets every formula in the texts of %s', async language => {
  const { load, first, chapters } = languages[language];
  const texts = await Promise.all([load, first, ...Object.values(chapters)].map(each => each()));
  const { strings, functions } = valuesIn(texts);
  const found = strings.flatMap(text => [...text.matchAll(formula)].map(([, tex = '']) => tex));
  expect(found.length).toBeGreaterThan(50);
  for (const tex of found) expect(typesetFormulas.inline, tex).toHaveProperty([tex]);
  // The result of a function is not known when the page is built.
  for (const source of functions) expect(source).not.toMatch(/\$[^${\s\d][^$'"`]*\$|\$\d\w[^$'"`]*\$/);
});

it('contains the formulas as MathML, and without their source, whose words are of one language', () => {
  for (const html of Object.values(typesetFormulas.block)) {
    expect(html).toContain('<math');
    expect(html).not.toContain('annotation');
  }
});

it('contains each word for the eye and for the ear, alone in an element, so that both can be translated', () => {
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
