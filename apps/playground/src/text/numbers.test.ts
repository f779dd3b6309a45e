import { expect, it } from 'vitest';
import { numbersIn } from './numbers.ts';

it('writes numbers as each language does', () => {
  expect(numbersIn('en').fixed(-1234.5678, 2)).toBe('−1,234.57');
  expect(numbersIn('de').fixed(-1234.5678, 2)).toBe('−1.234,57');
  expect(numbersIn('en').significant(0.012345, 3)).toBe('0.0123');
  expect(numbersIn('en').whole(4096)).toBe('4,096');
  expect(numbersIn('de').whole(1_328_450_063)).toBe('1.328.450.063');
});

it('writes a percentage so that no line breaks before its sign', () => {
  expect(numbersIn('en').percent(0.125, 1)).toBe('12.5%');
  expect(numbersIn('de').percent(0.125, 1)).toBe('12,5\u00a0%');
});

it('has no minus zero, and names numbers that are not finite', () => {
  const { fixed } = numbersIn('en');
  expect(fixed(-0.0001, 2)).toBe('0.00');
  expect(numbersIn('de').percent(-0.0001)).toBe('0\u00a0%');
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
