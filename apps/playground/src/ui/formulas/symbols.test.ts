import { expect, it } from 'vitest';
import { symbolParts } from './symbols.ts';

it('finds symbols that stand as words, and none inside of words', () => {
  expect(symbolParts('S and dP, of K.')).toEqual(['', 'S', ' and ', 'dP', ', of ', 'K', '.']);
  expect(symbolParts('OK, SGD on a GPU')).toEqual(['OK, SGD on a GPU']);
});
