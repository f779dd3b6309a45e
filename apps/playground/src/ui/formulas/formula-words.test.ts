import katex from 'katex';
import { expect, it } from 'vitest';
import { withWords } from './formula-words.ts';

it('replaces the words of a formula for the eye and for the ear, and leaves names as they are', () => {
  const html = katex.renderToString('dO \\quad \\text{never stored}, n/\\text{TILE}');
  const [ear = '', eye = ''] = withWords(html, { 'never stored': 'nie gespeichert', n: 'n' }).split(
    'katex-html',
  );
  for (const part of [ear.replace(/<annotation.*/, ''), eye]) {
    expect(part).toContain('>nie gespeichert<');
    expect(part).not.toMatch(/never.stored/);
    expect(part).toContain('>TILE<');
  }
});
