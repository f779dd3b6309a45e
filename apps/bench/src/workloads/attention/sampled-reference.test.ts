import { Tensor } from '@tilewise/core';
import { sdpa, sdpaBackward } from '@tilewise/core/reference';
import { normalInputs } from '@tilewise/device-report/measure';
import { describe, expect, test } from 'vitest';
import { WrongResult } from '../../suite/suite.ts';
import type { SampledBackward } from './exact-rows.ts';
import { checkBackward, checkForward, sampleRows } from './sampled-reference.ts';

describe.each([{ causal: false }, { causal: true }, { causal: true, left: 5 }])(
  'with %o',
  ({ causal, left }) => {
    const { q, k, v, dO } = normalInputs(['q', 'k', 'v', 'dO'], [2, 3, 20, 8]);
    const options = { causal, ...(left !== undefined && { window: { left } }) };
    const { o, lse } = sdpa(q, k, v, options);
    const gradients = sdpaBackward({ q, k, v, o, lse, dO }, options);
    const call = { q, k, v, causal, left };
    const results: SampledBackward = { o, lse, dO, ...gradients };
    const places = sampleRows(call, 4);

    test('the reference passes', () => {
      expect(() => checkForward(call, results, places)).not.toThrow();
      expect(() => checkBackward(call, results, places)).not.toThrow();
    });

    test.each(['o', 'dq', 'dk', 'dv'] as const)('a wrong %s is found in its row', name => {
      const { head, row } = places[2];
      const wrong = withChange(results[name], [Math.floor(head / 3), head % 3, row, 5]);
      const check = name === 'o' ? checkForward : checkBackward;
      expect(() => check(call, { ...results, [name]: wrong }, places)).toThrow(WrongResult);
      expect(() => check(call, { ...results, [name]: wrong }, places)).toThrow(
        `${name} is off by 1.00e-3 in row ${row} of head ${head}`,
      );
    });

    test('a wrong lse is found', () => {
      const wrong = withChange(lse, [0, 0, 0]);
      expect(() => checkForward(call, { o, lse: wrong }, places)).toThrow(
        'lse is off by 1.00e-3 in row 0 of head 0',
      );
    });

    test('NaN is never right', () => {
      const wrong = Tensor.from(new Float32Array(o.size).fill(NaN), o.shape);
      expect(() => checkForward(call, { o: wrong, lse }, places)).toThrow('o is off by');
    });
  },
);

test('samples hold the first and the last row and several heads', () => {
  const { q } = normalInputs(['q'], [1, 3, 100, 4]);
  const places = sampleRows({ q, k: q, v: q, causal: true }, 6);
  expect(places.map(({ row }) => row)).toEqual([0, 14, 28, 42, 56, 70, 84, 99]);
  expect(new Set(places.map(({ head }) => head)).size).toBe(3);
});

function withChange(t: Tensor, index: readonly number[]): Tensor {
  const changed = Tensor.from(t.toFloat32(), t.shape);
  changed.set(changed.get(...index) + 0.001, ...index);
  return changed;
}
