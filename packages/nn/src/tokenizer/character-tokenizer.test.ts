import { InvalidArgumentError } from '@tilewise/core';
import { expect, test } from 'vitest';
import { characterTokenizer } from './character-tokenizer.ts';

test('the characters of a text are code points, each once and in order', () => {
  const tokenizer = characterTokenizer('ba😀a');
  expect(tokenizer.characters).toEqual(['a', 'b', '😀']);
  expect(tokenizer.encode('😀ab')).toEqual([2, 0, 1]);
  expect(tokenizer.decode([2, 0, 7])).toBe('😀a\ufffd');
});

test('listed characters keep their order, and an error names an unknown character', () => {
  const tokenizer = characterTokenizer(['b', 'a']);
  expect(tokenizer.encode('ab')).toEqual([1, 0]);
  expect(() => tokenizer.encode('abc')).toThrow(InvalidArgumentError);
  expect(() => tokenizer.encode('abc')).toThrow('text has "c", which has no token');
});
