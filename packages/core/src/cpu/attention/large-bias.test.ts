import { expect, test } from 'vitest';
import { sdpaFloat64 } from '../../reference/forward.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { sdpa, sdpaBackward } from '../sdpa.ts';

const S = 4;
const x = Tensor.from(
  Array.from({ length: S * 8 }, (_, n) => Math.sin(1.7 * n + 1)),
  [1, 1, S, 8],
);
// With this v, row i of o is row i of P.
const v = Tensor.from(
  Array.from({ length: S * S }, (_, n) => Number(n % (S + 1) === 0)),
  [1, 1, S, S],
);
const P = sdpaFloat64(x, x, v).o.values;

/** o, and P as backward recomputes it, with a bias of `value` on all keys. */
function withBias(value: number): { readonly o: Float32Array; readonly p: Float32Array } {
  const bias = Tensor.from(new Array<number>(S * S).fill(value), [S, S]);
  const { o, lse } = sdpa(x, x, v, { bias });
  // With this dO, row j of dv is column j of P.
  const { dv } = sdpaBackward({ q: x, k: x, v, o, lse, dO: v }, { bias });
  return { o: o.toFloat32(), p: dv.permute(0, 1, 3, 2).toFloat32() };
}

test('a bias of −1e9 on all keys makes the scores equal, so that o is the mean of the values', () => {
  const { o, p } = withBias(-1e9);
  expect(new Set(o)).toEqual(new Set([1 / S]));
  expect(new Set(p)).toEqual(new Set([1]));
});

// The spacing of f32 numbers is 2⁻⁸ there: the score, the scores in lse and lse itself are off by up to 2⁻⁹.
test('with a bias of −65504 on all keys, P of backward is right to 3 · 2⁻⁹', () => {
  const { p } = withBias(-65504);
  const error = Math.max(...p.map((value, n) => Math.abs(value / (P[n] ?? 0) - 1)));
  expect(error).toBeLessThan(3.01 * 2 ** -9);
  expect(error).toBeGreaterThan(2 ** -10);
});
