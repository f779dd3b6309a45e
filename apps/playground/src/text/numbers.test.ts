import { expect, it } from 'vitest';
import { numbersIn } from './numbers.ts';

it('writes numbers as each language does', () => {
  expect(numbersIn('en').fixed(-1234.5678, 2)).toBe('−1,234.57');
  expect(numbersIn('de').fixed(-1234.5678, 2)).toBe('−1.234,57');
  expect(numbersIn('en').significant(0.012345, 3)).toBe('0.0123');
  expect(numbersIn('de').percent(0.125, 1)).toBe('12,5 %');
});

it('has no minus zero, and says what is no finite number', () => {
  const { fixed } = numbersIn('en');
  expect(fixed(-0.0001, 2)).toBe('0.00');
  expect(fixed(Number.NEGATIVE_INFINITY, 3)).toBe('−∞');
  expect(fixed(Number.NaN, 3)).toBe('NaN');
});

it('writes an exponent only where zeros would have to be counted', () => {
  const { short } = numbersIn('de');
  expect(short(0.0125, 3)).toBe('0,0125');
  expect(short(-1.34e-7, 2)).toBe('−1,3e−7');
  expect(short(2.5e9, 3)).toBe('2,5e9');
  expect(short(0, 3)).toBe('0');
});
