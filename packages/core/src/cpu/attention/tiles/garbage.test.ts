import { expect, test } from 'vitest';
import { normal } from '../../../../testing/normal.ts';
import type { SdpaOptions } from '../../../attention/options/options.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { sdpa, sdpaBackward } from '../../sdpa.ts';

const S = 100;
const D = 6;

/** The tensor with NaN and infinities at every third position. */
function withGarbage(t: Tensor): Tensor {
  const values = t
    .toFloat32()
    .map((x, n) => (isHidden(Math.floor(n / D) % S) ? [NaN, Infinity, -Infinity][n % 3] : x));
  return Tensor.from(values, t.shape);
}
const isHidden = (s: number): boolean => s % 3 === 1;

function everything(q: Tensor, k: Tensor, v: Tensor, dO: Tensor, options: SdpaOptions) {
  const { o, lse } = sdpa(q, k, v, options);
  const { dq, dk, dv } = sdpaBackward({ q, k, v, o, lse, dO }, options);
  return [o, lse, dq, dk, dv].map(t => [...t.toFloat32()]);
}

const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, S, D], seed));
const visible = Tensor.from(
  Array.from({ length: S }, (_, s) => Number(!isHidden(s))),
  [S],
  { dtype: 'bool' },
);
const bias = Tensor.from(
  Array.from({ length: S }, (_, s) => (isHidden(s) ? -Infinity : 0)),
  [S],
);

test('NaN and infinities in masked keys and values do not leak', () => {
  const expected = everything(q, k, v, dO, { mask: visible });
  expect(everything(q, withGarbage(k), withGarbage(v), dO, { mask: visible })).toEqual(expected);
  expect(expected.flat().every(x => !Number.isNaN(x))).toBe(true);
});

test.each([{}, { softcap: 3 }])('a bias of −∞ hides them as a mask does (%o)', options => {
  const got = everything(q, withGarbage(k), withGarbage(v), dO, { ...options, bias });
  expect(got[0].every(Number.isFinite)).toBe(true);
  expect(got.flat().some(Number.isNaN)).toBe(false);
});

test('rows that see no key do not pass on their q and dO', () => {
  const mask = Tensor.from(visible.toFloat32(), [S, 1], { dtype: 'bool' });
  const [o, lse, ...gradients] = everything(withGarbage(q), k, v, withGarbage(dO), { mask });
  expect(gradients).toEqual(everything(q, k, v, dO, { mask }).slice(2));
  expect(lse[1]).toBe(-Infinity);
  expect(o.slice(D, 2 * D)).toEqual(new Array(D).fill(0));
});

test('a visible NaN reaches the results', () => {
  const [o, lse] = everything(q, k, withGarbage(v), dO, {});
  expect(o.some(Number.isFinite)).toBe(false);
  expect(lse.every(Number.isFinite)).toBe(true);
  expect(everything(q, withGarbage(k), v, dO, {})[1].every(Number.isNaN)).toBe(true);
});
