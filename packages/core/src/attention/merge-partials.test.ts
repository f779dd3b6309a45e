import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import { sdpa } from '../reference/sdpa.ts';
import { Tensor } from '../tensor/tensor.ts';
import { mergePartials, type PartialAttention } from './merge-partials.ts';

function largestDifference(a: Tensor, b: Tensor): number {
  const [x, y] = [a.toFloat64(), b.toFloat64()];
  return x.reduce((most, value, n) => Math.max(most, Object.is(value, y[n]) ? 0 : Math.abs(value - y[n])), 0);
}

// With |lse| < 8 and |o| < 4, f32 rounds lse by up to 2^-22 and o by 2^-23. The rounding of the parts' lse
// moves o by up to Σ w·2^-22·|o_n − o| < 8·2^-22, and the roundings of o in the parts, the merge and the
// expected value move it by 3·2^-23: together below 10·2^-22, which covers the three roundings of lse as
// well. Merging in two steps can double the error.
const tolerance = 10 * 2 ** -22;

test('merging attention over parts of the keys is attention over all keys', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 99 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 }),
      (seed, cuts) => {
        const [q, k, v] = [
          normal([2, 2, 3, 4], seed),
          normal([2, 1, 9, 4], seed + 1),
          normal([2, 1, 9, 5], seed + 2),
        ];
        const bounds = [0, ...cuts.sort((a, b) => a - b), 9];
        const parts = bounds.slice(1).map((end, n) => {
          const part = (t: Tensor) => t.slice(2, bounds[n], end);
          return sdpa(q, part(k), part(v));
        });
        const whole = sdpa(q, k, v);
        const merged = mergePartials(parts);
        expect(largestDifference(merged.o, whole.o)).toBeLessThan(tolerance);
        expect(largestDifference(merged.lse, whole.lse)).toBeLessThan(tolerance);
      },
    ),
    { numRuns: 25 },
  );
});

test('the order and the grouping of the parts do not matter', () => {
  const part = (seed: number): PartialAttention => ({
    o: normal([1, 2, 3, 4], seed),
    lse: normal([1, 2, 3], seed + 9),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), seed => {
      const [a, b, c] = [part(seed), part(seed + 1), part(seed + 2)];
      const flat = mergePartials([a, b, c]);
      for (const other of [
        mergePartials([mergePartials([a, b]), c]),
        mergePartials([a, mergePartials([b, c])]),
        mergePartials([c, a, b]),
      ]) {
        expect(largestDifference(other.o, flat.o)).toBeLessThan(2 * tolerance);
        expect(largestDifference(other.lse, flat.lse)).toBeLessThan(2 * tolerance);
      }
    }),
    { numRuns: 20 },
  );
});

describe('parts that saw no key', () => {
  const masked: PartialAttention = {
    o: Tensor.from([NaN, Infinity], [1, 1, 1, 2]),
    lse: Tensor.from([-Infinity], [1, 1, 1]),
  };
  const visible: PartialAttention = {
    o: Tensor.from([1, 2], [1, 1, 1, 2]),
    lse: Tensor.from([3], [1, 1, 1]),
  };

  test('change nothing, whatever their o holds', () => {
    for (const { o, lse } of [mergePartials([masked, visible]), mergePartials([visible, masked, masked])]) {
      expect([...o.toFloat32(), ...lse.toFloat32()]).toEqual([1, 2, 3]);
    }
  });

  test('alone make a fully masked row', () => {
    const { o, lse } = mergePartials([masked, masked]);
    expect([...o.toFloat32(), ...lse.toFloat32()]).toEqual([0, 0, -Infinity]);
  });
});

test('a packed lse is (Hq, T) while o is (T, Hq, Dv)', () => {
  const [q, k, v] = [normal([5, 2, 4], 1), normal([6, 2, 4], 2), normal([6, 2, 3], 3)];
  const lengths = { cuSeqLensQ: [0, 2, 5], cuSeqLensKv: [0, 3, 6] };
  // Keys 0 to 2 belong to the first sequence, 3 to 5 to the second; a mask splits both.
  const half = (keys: readonly number[]) => Tensor.from(keys, [3], { dtype: 'bool' });
  const whole = sdpa(q, k, v, lengths);
  const merged = mergePartials([
    sdpa(q, k, v, { ...lengths, mask: half([1, 0, 0]) }),
    sdpa(q, k, v, { ...lengths, mask: half([0, 1, 1]) }),
  ]);
  expect(largestDifference(merged.o, whole.o)).toBeLessThan(tolerance);
  expect(largestDifference(merged.lse, whole.lse)).toBeLessThan(tolerance);
});

test('o keeps its dtype and lse is f32', () => {
  const part = { o: normal([1, 1, 2, 3], 4, 'f16'), lse: normal([1, 1, 2], 5) };
  const merged = mergePartials([part]);
  expect([merged.o.dtype, merged.lse.dtype]).toEqual(['f16', 'f32']);
  expect(largestDifference(merged.o, part.o)).toBe(0);
});

describe('refuses', () => {
  const part: PartialAttention = { o: Tensor.zeros([1, 1, 2, 3]), lse: Tensor.zeros([1, 1, 2]) };
  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /^parts must be an array of { o, lse }, got undefined$/],
    ['a part alone', part, /^parts must be an array of { o, lse }, got Object$/],
    ['null', [null], /^parts\[0\] must be an object of o and lse, got null$/],
    ['a part without tensors', [part, {}], /^parts\[1\].o must be a tensor, got undefined$/],
    ['numbers', [{ ...part, lse: [1, 2] }], /^parts\[0\].lse must be a tensor, got Array$/],
    [
      'a tensor on a device',
      [{ ...part, o: { dtype: 'f32', shape: [1, 1, 2, 3], strides: [6, 6, 3, 1] } }],
      /^parts\[0\].o must be a Tensor on this host: download it first$/,
    ],
    ['no parts', [], /^parts must hold at least one part/],
    [
      'an lse of another shape',
      [{ ...part, lse: Tensor.zeros([1, 2, 1]) }],
      /^parts\[0\].lse must have shape \[1,1,2\]/,
    ],
    [
      'an lse that is not f32',
      [{ ...part, lse: Tensor.zeros([1, 1, 2], { dtype: 'f16' }) }],
      /must be f32, got f16/,
    ],
    [
      'parts of different shapes',
      [part, { o: Tensor.zeros([1, 1, 2, 4]), lse: part.lse }],
      /^parts\[1\].o must have the shape of the first/,
    ],
    [
      'parts of different dtypes',
      [part, { ...part, o: Tensor.zeros([1, 1, 2, 3], { dtype: 'bf16' }) }],
      /^parts\[1\].o must be f32/,
    ],
    [
      'an o of integers',
      [{ ...part, o: Tensor.zeros([1, 1, 2, 3], { dtype: 'i32' }) }],
      /float dtype, got i32/,
    ],
    [
      'an o of another rank',
      [{ o: Tensor.zeros([2, 3]), lse: Tensor.zeros([2]) }],
      /must be \(B, Hq, Sq, Dv\)/,
    ],
  ])('%s', (_, parts, message) => {
    expect(() => mergePartials(parts as PartialAttention[])).toThrow(message);
  });
});
