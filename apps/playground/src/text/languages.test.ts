import katex from 'katex';
import { describe, expect, it } from 'vitest';
import { bench } from './de/evaluate/bench.ts';
import { initialLanguage, type Language, languages } from './languages.ts';

describe('the language to begin with', () => {
  const nothing = { search: '', stored: null, preferred: [] };

  it('is the one in the address before any other', () => {
    expect(initialLanguage({ search: '?lang=de', stored: 'en', preferred: ['en-US'] })).toBe('de');
  });

  it('is the one chosen before, then the first that the browser prefers and the page has', () => {
    expect(initialLanguage({ ...nothing, stored: 'de', preferred: ['en'] })).toBe('de');
    expect(initialLanguage({ ...nothing, preferred: ['fr', 'de-AT', 'en'] })).toBe('de');
  });

  it('is English when nothing fits', () => {
    expect(initialLanguage(nothing)).toBe('en');
    expect(initialLanguage({ search: '?lang=toString', stored: 'x', preferred: ['fr'] })).toBe('en');
  });
});

/** Every place of a catalogue with its value. */
function entries(node: unknown, path: string): [string, unknown][] {
  if (typeof node !== 'object' || node === null) return [[path, node]];
  return Object.entries(node).flatMap(([key, child]) => entries(child, `${path}.${key}`));
}

/** All that is said in a language. */
async function whole(language: Language): Promise<object> {
  const { load, chapters } = languages[language];
  const parts = await Promise.all(Object.values(chapters).map(loadChapter => loadChapter()));
  return { ...(await load()), parts };
}

describe.each(['en', 'de'] as const)('the formulas of the catalogue %s', language => {
  it('contain only commands that KaTeX knows, without stray characters', async () => {
    for (const [path, value] of entries(await whole(language), 'text')) {
      if (typeof value !== 'string') continue;
      // A backslash too few makes a control character.
      expect(
        [...value].filter(sign => sign < ' ' && sign !== '\n'),
        path,
      ).toEqual([]);
      for (const [, tex = ''] of value.matchAll(/\$([^$]+)\$/g))
        expect(() => katex.renderToString(tex, { throwOnError: true }), `${path}: ${tex}`).not.toThrow();
    }
  });
});

describe('the German catalogue', () => {
  it('writes the numbers of the machines with decimal commas, as the page does', () => {
    expect(bench.written('(0.25, −1.5)')).toBe('(0,25; −1,5)');
    expect(bench.written('a₀₀b₀₀ + a₀₁b₁₀')).toBe('a₀₀b₀₀ + a₀₁b₁₀');
    const found = { kind: 'holds', cell: 'out[0]', value: '1.649', wanted: '0.07' } as const;
    expect(bench.findings.holds(found)).toBe('in out[0] steht 1,649, nicht 0,07');
  });

  it('leaves nothing empty, and uses the formulas and code of the English one', async () => {
    const german = new Map(entries(await whole('de'), 'text'));
    const marked = (text: string): string[] => [...text.matchAll(/\$[^$]+\$|`[^`]+`/g)].map(String).sort();
    for (const [path, value] of entries(await whole('en'), 'text')) {
      if (typeof value !== 'string') continue;
      const translated = german.get(path);
      expect(translated, path).toSatisfy((text: unknown) => typeof text === 'string' && text.trim() !== '');
      expect(marked(String(translated)), path).toEqual(marked(value));
    }
  });
});
