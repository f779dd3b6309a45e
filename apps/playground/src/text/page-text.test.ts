import { expect, it } from 'vitest';
import { en } from './en/index.ts';
import { pageText } from './page-text.ts';

it('is what a catalogue says in sentences, without marks and formulas', () => {
  const long = 'A sentence that is certainly long enough to be learnt by a small model, `and` $x^2$ more.';
  expect(pageText({ a: { title: 'Short', text: [long] }, f: () => long })).toBe(
    'A sentence that is certainly long enough to be learnt by a small model, and  more.',
  );
});

it('is long enough to be learnt', () => {
  expect(pageText(en).length).toBeGreaterThan(3000);
});
