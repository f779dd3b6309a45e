import { describe, expect, test } from 'vitest';
import type { DType } from '../tensor/dtype/dtype.ts';
import type { Overflow } from '../tensor/dtype/float-layout.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

describe('a bias', () => {
  const n = 40;
  /** One query of zeros, with v and dO such that dv is P, whose exact value is 1/n for each key. */
  function shared(bias: Tensor) {
    const [q, k] = [Tensor.zeros([1, 1, 1, 4]), Tensor.zeros([1, 1, n, 4])];
    const v = Tensor.from(
      Array.from({ length: n }, (_, j) => j),
      [1, 1, n, 1],
    );
    const { o, lse } = sdpa(q, k, v, { bias });
    const { dv } = sdpaBackward({ q, k, v, o, lse, dO: Tensor.from([1], [1, 1, 1, 1]) }, { bias });
    return { o: o.get(0, 0, 0, 0), lse: lse.get(0, 0, 0), dv: dv.toFloat64() };
  }
  const all = (x: number, dtype: DType = 'f32', overflow?: Overflow) =>
    Tensor.from(new Array<number>(n).fill(x), [1, n], { dtype, overflow });

  // ln 40 = 3.69 is less than half the spacing of f32 numbers at 1e9, which is 64.
  test.each([-1e9, -3.4028234663852886e38])(
    'of %d on all keys of a row: lse loses ln n, and gradients are n times too large',
    x => {
      const { o, lse, dv } = shared(all(x));
      expect(o).toBeCloseTo((n - 1) / 2, 5);
      expect(lse).toBe(Math.fround(x));
      expect(new Set(dv)).toEqual(new Set([1]));
    },
  );

  // An error of lse is a relative error of P: at most half the spacing of f32 numbers, which is 2⁻⁸ at 65504.
  test('of −65504 on all keys of a row: gradients are right to 2⁻⁹', () => {
    const { dv } = shared(all(-65504));
    const error = Math.max(...dv.map(x => Math.abs(n * x - 1)));
    expect(error).toBeLessThan(2 ** -9 * 1.001);
    expect(error).toBeGreaterThan(1e-4);
  });

  test('of −∞ in f8e5m2 masks if it was not made to saturate', () => {
    const half = (overflow?: Overflow) =>
      Tensor.from(
        Array.from({ length: n }, (_, j) => (j < n / 2 ? -Infinity : -57344)),
        [1, n],
        { dtype: 'f8e5m2', overflow },
      );
    expect(shared(half()).o).toBeCloseTo((n - 1) / 2, 5);
    expect(shared(half('ieee')).o).toBeCloseTo((n - 1) / 2 + n / 4, 5);
    expect(shared(all(-Infinity, 'f8e5m2', 'ieee'))).toMatchObject({ o: 0, lse: -Infinity });
  });

  test.each([Infinity, NaN])('of %d makes its row NaN, and no other', x => {
    const [q, k] = [Tensor.zeros([1, 1, 2, 4]), Tensor.zeros([1, 1, 3, 4])];
    const v = Tensor.from([1, 2, 6], [1, 1, 3, 1]);
    const { o, lse } = sdpa(q, k, v, { bias: Tensor.from([0, x, 0, 0, 0, 0], [2, 3]) });
    expect([o, lse].map(t => t.toFloat64()[0])).toEqual([NaN, NaN]);
    expect(o.get(0, 0, 1, 0)).toBeCloseTo(3, 6);
  });
});
