import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryUse } from './memory-use.ts';
import { emptyState, mergeStates, output, streamRow, tileState } from './softmax-state.ts';
import { twoPaths } from './two-paths.ts';
import { welford } from './welford.ts';

const row = fc.integer({ min: 1, max: 20 }).chain(n =>
  fc.record({
    x: fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: n, maxLength: n }),
    v: fc.array(fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }), {
      minLength: n,
      maxLength: n,
    }),
  }),
);

describe('streaming softmax', () => {
  it('gives the softmax average, whatever the tile size', () => {
    fc.assert(
      fc.property(row, fc.integer({ min: 1, max: 25 }), ({ x, v }, tileSize) => {
        const whole = output(tileState(x, v));
        const streamed = streamRow(x, v, tileSize).at(-1);
        const result = streamed ? output(streamed.merge.state) : [];
        result.forEach((value, c) => {
          expect(value).toBeCloseTo(whole[c] ?? Number.NaN, 10);
        });
      }),
    );
  });

  it('merges in any order to the same state', () => {
    fc.assert(
      fc.property(row, ({ x, v }) => {
        const parts = streamRow(x, v, 3).map(({ tile }) => tile);
        const fold = (tiles: typeof parts) => tiles.reduce((a, b) => mergeStates(a, b).state, emptyState(3));
        const [forwards, backwards] = [fold(parts), fold([...parts].reverse())];
        expect(forwards.m).toBe(backwards.m);
        expect(forwards.d).toBeCloseTo(backwards.d, 10);
      }),
    );
  });

  it('does not change a state that is merged with an empty state', () => {
    const state = tileState([1, 2], [[1], [2]]);
    expect(mergeStates(emptyState(1), state).state).toEqual(state);
    expect(output(emptyState(2))).toEqual([0, 0]);
  });
});

it('needs memory for one tile instead of the whole matrix', () => {
  expect(memoryUse(4096, 64, 32)).toEqual({ naive: 33_554_432, streaming: 1024 + 32 * 66 });
});

describe('two paths to the sum of exponents', () => {
  it('meet at the end, in whatever order the numbers come', () => {
    const numbers = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(numbers, x => {
        const last = twoPaths(x, 'difference').at(-1);
        expect(last?.running).toBeCloseTo(last?.global ?? Number.NaN, 4);
      }),
    );
  });

  it('correct with a factor that is at most 1, and never overflows', () => {
    const steps = twoPaths([100, 250, -300, 251], 'difference');
    expect(Math.max(...steps.map(({ factor }) => factor))).toBeLessThanOrEqual(1);
    expect(steps.at(-1)?.running).toBeCloseTo(1 + Math.exp(-1), 5);
  });

  it('differ when the factor is a quotient: exp(100) is more than a 32-bit float can hold', () => {
    expect(twoPaths([1, 3, 2], 'quotient').at(-1)?.running).toBeCloseTo(
      twoPaths([1, 3, 2], 'difference').at(-1)?.running ?? Number.NaN,
      5,
    );
    expect(twoPaths([101, 103, 102], 'quotient').at(-1)?.running).toBeNaN();
  });
});

it('finds the variance in one pass, as two passes do', () => {
  const x = [4, 7, 13, 16];
  const last = welford(x).at(-1);
  expect(last).toMatchObject({ n: 4, mean: 10 });
  expect((last?.m2 ?? 0) / 3).toBeCloseTo(30, 12);
});
