import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryUse } from './memory-use.ts';
import { emptyState, mergeStates, output, streamRow, tileState } from './softmax-state.ts';

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

  it('leaves a state alone that is merged with nothing', () => {
    const state = tileState([1, 2], [[1], [2]]);
    expect(mergeStates(emptyState(1), state).state).toEqual(state);
    expect(output(emptyState(2))).toEqual([0, 0]);
  });
});

it('needs memory for one tile instead of for the whole matrix', () => {
  expect(memoryUse(4096, 64, 32)).toEqual({ naive: 33_554_432, streaming: 1024 + 32 * 66 });
});
