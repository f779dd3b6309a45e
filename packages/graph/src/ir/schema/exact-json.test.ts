import { expect, test } from 'vitest';
import { exactJson, valueText } from './exact-json.ts';

test('numbers that JSON writes alike are written differently', () => {
  const values = [0, -0, Infinity, -Infinity, NaN, null, 'Infinity', 'NaN'];
  const texts = values.map(value => exactJson({ value: [value] }));
  expect(new Set(texts).size).toBe(values.length);
});

test('errors show the value that was given', () => {
  expect([NaN, -0, [1, Infinity], 'x', true].map(valueText)).toEqual([
    'NaN',
    '-0',
    '[1,Infinity]',
    '"x"',
    'true',
  ]);
});
