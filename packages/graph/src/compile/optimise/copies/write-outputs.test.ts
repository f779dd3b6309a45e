import { contiguousStrides, type Shape, type TensorDesc } from '@tilewise/core';
import { exp, neg } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import type { PrimitiveStep, Program, ProgramValue } from '../../../ir/program/program.ts';
import { writeOutputs } from './write-outputs.ts';

const dense = (shape: Shape): TensorDesc => ({ dtype: 'f32', shape, strides: contiguousStrides(shape) });

const map = (
  value: PrimitiveStep['primitive'] & { kind: 'map' },
  from: number,
  to: number,
): PrimitiveStep => ({
  ...{ kind: 'primitive', primitive: value },
  ...{ inputs: [from], outputs: [to] },
});
const exponential = { kind: 'map', value: exp(input(0)) } as const;
const negative = { kind: 'map', value: neg(input(0)) } as const;
const copy = { kind: 'map', value: input(0) } as const;

/** An input, two temporaries with a view of each, and outputs. */
const values: readonly ProgramValue[] = [
  { kind: 'input', tensor: 10, desc: dense([2, 3]) },
  { kind: 'temporary', desc: dense([2, 3]) },
  { kind: 'view', of: 1, desc: dense([6]) },
  { kind: 'temporary', desc: dense([2, 3]) },
  { kind: 'view', of: 3, desc: dense([3]), offset: 3 },
  { kind: 'output', tensor: 11, desc: dense([6]) },
  { kind: 'output', tensor: 12, desc: dense([6]) },
  { kind: 'output', tensor: 13, desc: dense([3]) },
];
const [source, whole, flat, parted, half, first, second, small] = values.keys();

/** The owners of what the steps read and write. */
const ownersOf = ({ values: all, steps }: Program): number[][] =>
  steps.flatMap(step => {
    if (step.kind !== 'primitive') return [];
    return [
      [...step.inputs, ...step.outputs].map(n => {
        const value = all[n];
        return value.kind === 'view' ? value.of : n;
      }),
    ];
  });

test('steps write an output instead of a temporary that is copied to it', () => {
  const steps = [map(exponential, source, whole), map(copy, flat, first)];
  const { values: all, steps: left } = writeOutputs({ values, steps });
  expect(left).toEqual([steps[0]]);
  expect(all[whole]).toEqual({ kind: 'view', of: first, desc: dense([2, 3]), offset: 0 });
});

test('other readers of the temporary read the output', () => {
  const steps = [
    map(exponential, source, whole),
    map(copy, flat, first),
    map(copy, flat, second),
    map(negative, whole, parted),
  ];
  expect(ownersOf(writeOutputs({ values, steps }))).toEqual([
    [source, first],
    [first, second],
    [first, parted],
  ]);
});

test.each<[string, readonly PrimitiveStep[]]>([
  ['of a part', [map(exponential, source, parted), map(copy, half, small)]],
  ['of an input', [map(copy, source, first)]],
])('copies %s stay', (_, steps) => {
  expect(writeOutputs({ values, steps })).toEqual({ values, steps });
});
