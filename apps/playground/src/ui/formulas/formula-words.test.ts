import katex from 'katex';
import { expect, it } from 'vitest';
import { withWords } from './formula-words.ts';

it('replaces the words of a formula in its MathML and its HTML, and does not change names', () => {
  const html = katex.renderToString('dO \\quad \\text{never stored}, n/\\text{TILE}');
  const [mathml = '', shown = ''] = withWords(html, { 'never stored': 'nie gespeichert', n: 'n' }).split(
    'katex-html',
  );
  for (const part of [mathml.replace(/<annotation.*/, ''), shown]) {
    expect(part).toContain('>nie gespeichert<');
    expect(part).not.toMatch(/never.stored/);
    expect(part).toContain('>TILE<');
  }
});
