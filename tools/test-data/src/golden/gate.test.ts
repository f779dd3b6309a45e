import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixturesDir } from '../data-folders.ts';
import { errorOf, gate, referenceGate } from './gate.ts';
import { goldenCases, loadGolden } from './golden-case.ts';
import type { GoldenCase } from './parse-golden.ts';

const committed = join(fixturesDir(), 'attention');
const caseWith = (maxAbs: number, max: number, rms: number): GoldenCase => {
  const refErr = { o: [max, rms], dq: [max, rms], dslopes: [max, rms], lse: [max, rms] } as const;
  return {
    ...loadGolden('tiny_1x1x1x1', committed),
    maxAbs: { o: maxAbs, dq: maxAbs, dslopes: maxAbs, lse: maxAbs },
    refErr: { f32: refErr, f16: refErr, bf16: refErr },
  };
};

describe('gate', () => {
  test('f32 is held to 1e-5 forward and 2e-5 backward, relative to the largest value', () => {
    expect(gate(caseWith(4, 0, 0), 'o', 'f32').max).toBeCloseTo(4e-5, 12);
    expect(gate(caseWith(4, 0, 0), 'dq', 'f32').max).toBeCloseTo(8e-5, 12);
  });

  test('small values are not held to less than values of 1', () => {
    expect(gate(caseWith(1e-4, 0, 0), 'o', 'f32')).toEqual(gate(caseWith(1, 0, 0), 'o', 'f32'));
  });

  test('an ill-conditioned case is held to a multiple of the eager error', () => {
    expect(gate(caseWith(1, 0.5, 0.25), 'o', 'f32')).toEqual({ max: 2, rms: 0.5 });
    expect(gate(caseWith(1, 0.5, 0.25), 'dq', 'f32')).toEqual({ max: 4, rms: 0.5 });
  });

  test('half precision may add the rounding of the store, half a unit in the last place', () => {
    expect(gate(caseWith(3, 0.5, 0.25), 'o', 'f16').max).toBe(1 + 2 ** -10);
    expect(gate(caseWith(3, 0.5, 0.25), 'dq', 'bf16').max).toBe(1.5 + 2 ** -7);
    expect(gate(caseWith(3, 0, 0), 'o', 'bf16').rms).toBeGreaterThan(2 ** -6 / Math.sqrt(12));
  });

  test('lse is stored in f32 whatever the storage', () => {
    expect(gate(caseWith(2, 0, 0), 'lse', 'bf16').max).toBeCloseTo(4e-5, 12);
  });

  test('takes the public name of the ALiBi gradient', () => {
    expect(gate(caseWith(1, 0.5, 0.25), 'dAlibi', 'f32').max).toBe(4);
  });

  test('an eager implementation passes every gate of the committed cases', () => {
    for (const name of goldenCases(committed)) {
      const golden = loadGolden(name, committed);
      for (const storage of ['f32', 'f16', 'bf16'] as const) {
        for (const tensor of Object.keys(golden.outputs).filter(output => output !== 'lse')) {
          const [max = 0, rms = 0] = golden.refErr[storage][tensor] ?? [];
          const allowed = gate(golden, tensor, storage);
          expect([max <= allowed.max, rms <= allowed.rms], `${name} ${tensor} ${storage}`).toEqual([
            true,
            true,
          ]);
        }
      }
    }
  });
});

test('the reference is held to 1e-6', () => {
  expect(referenceGate(caseWith(0.5, 1, 1), 'o')).toBe(1e-6);
  expect(referenceGate(caseWith(3, 1, 1), 'o')).toBeCloseTo(3e-6, 12);
});

describe('errorOf', () => {
  test('is the largest and the mean-square difference', () => {
    expect(errorOf([1, 2, 3, 4], [1, 2, 3, 2])).toEqual({ max: 2, rms: 1 });
  });

  test('takes equal infinities for equal, and anything else that is not finite for an infinite error', () => {
    expect(errorOf([-Infinity], [-Infinity])).toEqual({ max: 0, rms: 0 });
    for (const [got, want] of [
      [NaN, 0],
      [0, -Infinity],
      [-Infinity, 0],
      [NaN, -Infinity],
      [Infinity, -Infinity],
    ]) {
      expect(errorOf([got ?? 0], [want ?? 0]).max, `${got} for ${want}`).toBe(Infinity);
    }
  });

  test('rejects a result of another size', () => {
    expect(() => errorOf([1], [1, 2])).toThrow('1 values were given where 2 are expected');
  });
});
