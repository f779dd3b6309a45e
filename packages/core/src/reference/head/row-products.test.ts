import { describe, expect, test } from 'vitest';
import { addOuter, addWeighted, dots } from './row-products.ts';

const D = 3;
const Y = Float64Array.from({ length: 9 * D }, (_, n) => n + 1);
const row = (Z: Float64Array, n: number): number[] => [...Z.subarray(n * D, n * D + D)];
const x = Float64Array.of(2, -1, 5);

// Fewer rows than are processed at a time, exactly as many, and some left over; not in order, so that a row's
// index differs from its position.
describe.each([0, 1, 3, 4, 7])('with %i chosen rows', count => {
  const rows = Int32Array.of(8, 0, 5, 3, 1, 7, 2).subarray(0, count);
  const w = Float64Array.of(1, -2, 0.5, 3, 4, -5, 7).subarray(0, count);

  test('dot products are of the chosen rows', () => {
    const expected = Array.from(rows, n => row(Y, n).reduce((sum, y, d) => sum + x[d] * y, 0));
    expect([...dots(x, Y, rows)]).toEqual(expected);
  });

  test('the weighted sum is added to the previous value', () => {
    const y = x.slice();
    addWeighted(y, w, rows, Y);
    const expected = Array.from(x, (start, d) =>
      rows.reduce((sum, n, at) => sum + w[at] * row(Y, n)[d], start),
    );
    expect([...y]).toEqual(expected);
  });

  test('the outer product is added to the chosen rows, and no other row changes', () => {
    const Z = Y.slice();
    addOuter(Z, w, rows, x);
    for (let n = 0; n < 9; n++) {
      const at = rows.indexOf(n);
      const expected = row(Y, n).map((y, d) => y + (at < 0 ? 0 : w[at] * x[d]));
      expect(row(Z, n)).toEqual(expected);
    }
  });
});
