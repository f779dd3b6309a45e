import { expect, it } from 'vitest';
import { pieces } from './markup.ts';

it('finds code, formulas and emphasis in a text', () => {
  expect(pieces('Load `R0`: $a_0 * b_0$ is *not* kept.')).toEqual([
    { kind: 'plain', text: 'Load ' },
    { kind: 'code', text: 'R0' },
    { kind: 'plain', text: ': ' },
    { kind: 'formula', text: 'a_0 * b_0' },
    { kind: 'plain', text: ' is ' },
    { kind: 'emphasis', text: 'not' },
    { kind: 'plain', text: ' kept.' },
  ]);
});

it('does not change a mark that is not closed', () => {
  expect(pieces('5 $, 2 * 3')).toEqual([{ kind: 'plain', text: '5 $, 2 * 3' }]);
});
