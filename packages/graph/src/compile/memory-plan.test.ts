import { contiguousStrides, type DType } from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import type { Program, ProgramValue, Step } from '../ir/program/program.ts';
import { planMemory } from './memory-plan.ts';

interface Temporary {
  readonly length: number;
  readonly first: number;
  readonly last: number;
  readonly dtype?: DType;
}

/** A program whose temporaries are written by their first step and read by their last. */
function programOf(temporaries: readonly Temporary[]): Program {
  const values = temporaries.map(
    ({ length, dtype = 'f32' }): ProgramValue => ({
      kind: 'temporary',
      desc: { dtype, shape: [length], strides: contiguousStrides([length]) },
    }),
  );
  const at = (step: number, side: 'first' | 'last'): number[] =>
    [...temporaries.keys()].filter(n => temporaries[n][side] === step);
  const end = Math.max(...temporaries.map(({ last }) => last));
  const steps = Array.from({ length: end + 1 }, (_, n): Step => {
    const primitive = { kind: 'map', value: input(0) } as const;
    return { kind: 'primitive', primitive, inputs: at(n, 'last'), outputs: at(n, 'first') };
  });
  return { values, steps };
}

test('a small temporary uses the memory of a large one that is needed later', () => {
  const { slots, bytes } = planMemory(
    programOf([
      { length: 10, first: 0, last: 1 },
      { length: 1000, first: 2, last: 3 },
      { length: 500, first: 4, last: 5 },
    ]),
  );
  expect(slots).toEqual([{ dtype: 'f32', length: 1000 }]);
  expect(bytes).toBe(4000);
});

test('temporaries of two dtypes, or that a step needs at once, have different memory', () => {
  const { slots } = planMemory(
    programOf([
      { length: 8, first: 0, last: 2 },
      { length: 4, first: 2, last: 3 },
      { length: 2, first: 4, last: 5, dtype: 'f16' },
    ]),
  );
  expect(slots).toEqual([
    { dtype: 'f32', length: 8 },
    { dtype: 'f32', length: 4 },
    { dtype: 'f16', length: 2 },
  ]);
});

test('on a device, nearby steps do not overwrite small temporaries that other steps read', () => {
  const inTurn = (length: number, steps: number): Program =>
    programOf(Array.from({ length: steps }, (_, n) => ({ length, first: n, last: n })));
  const slotsOf = (length: number, onDevice: boolean): number =>
    planMemory(inTurn(length, 30), onDevice).slots.length;
  expect([slotsOf(2 ** 16, false), slotsOf(2 ** 16, true)]).toEqual([1, 9]);
  expect(slotsOf(2 ** 16 + 1, true)).toBe(1);
});

test('no temporary overlaps another one in time and memory, and every slot is large enough', () => {
  let state = 1;
  const random = (n: number): number => {
    state = (state * 48271) % 2147483647;
    return state % n;
  };
  for (let run = 0; run < 50; run++) {
    const temporaries = Array.from({ length: 60 }, (): Temporary => {
      const first = random(80);
      return { length: 1 + random(1000), first, last: first + random(12), dtype: random(4) ? 'f32' : 'f16' };
    });
    const { slots, slotOf } = planMemory(programOf(temporaries));
    expect(slotOf.size).toBe(temporaries.length);
    for (const [n, { length, first, last, dtype }] of temporaries.entries()) {
      const slot = slotOf.get(n) ?? -1;
      expect(slots[slot].dtype).toBe(dtype);
      expect(slots[slot].length).toBeGreaterThanOrEqual(length);
      const sharing = temporaries.filter((_, other) => other !== n && slotOf.get(other) === slot);
      expect(sharing.filter(other => other.first <= last && first <= other.last)).toEqual([]);
    }
  }
});
