import { expect, test } from 'vitest';
import { exp } from './exp.ts';

test('has a relative error below 3e-9 wherever f32 is normal', () => {
  let worst = 0;
  for (let x = -87; x < 88; x += 0.000731) worst = Math.max(worst, Math.abs(exp(x) / Math.exp(x) - 1));
  expect(worst).toBeLessThan(3e-9);
});

test('is exact at 0, 0 where f32 is, and as Math.exp elsewhere', () => {
  expect(exp(0)).toBe(1);
  expect([exp(-Infinity), exp(-104.1), exp(-1e9)]).toEqual([0, 0, 0]);
  expect(Math.fround(exp(-103.5))).toBe(Math.fround(Math.exp(-103.5)));
  expect([exp(Infinity), exp(100), exp(1e4)]).toEqual([Infinity, Math.exp(100), Infinity]);
  expect(exp(NaN)).toBeNaN();
});
