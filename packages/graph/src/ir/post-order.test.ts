import { expect, test } from 'vitest';
import { postOrder } from './post-order.ts';

const needs: Readonly<Record<string, readonly string[]>> = {
  d: ['b', 'c'],
  b: ['a'],
  c: ['b', 'a'],
  e: ['d'],
};
const needsOf = (item: string): readonly string[] => needs[item] ?? [];

test('each item comes after those that it needs, in the given order', () => {
  expect(postOrder(['a', 'b', 'c', 'd', 'e'], needsOf)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(postOrder(['e', 'x'], needsOf)).toEqual(['a', 'b', 'c', 'd', 'e', 'x']);
  expect(postOrder(['c', 'b', 'c'], needsOf)).toEqual(['a', 'b', 'c']);
});

test('a cycle is refused, with its items only', () => {
  const cyclic = (item: string): readonly string[] => (item === 'a' ? ['d'] : needsOf(item));
  const refuse = (cycle: readonly string[]): never => {
    throw new Error(cycle.join(' needs '));
  };
  expect(() => postOrder(['e'], cyclic, refuse)).toThrow(/^d needs b needs a$/);
});
