import { expect, it } from 'vitest';
import { neighbour } from './neighbour.ts';

const at = (x: number, y: number) => ({ x, y, width: 10, height: 10 });
const [middle, below, belowAside, right] = [at(0, 0), at(0, 50), at(-60, 40), at(80, 10)];
const all = [middle, below, belowAside, right];

it('walks to the nearest box in the direction of the key', () => {
  expect(neighbour(all, middle, 'ArrowDown')).toBe(below);
  expect(neighbour(all, middle, 'ArrowRight')).toBe(right);
  expect(neighbour(all, below, 'ArrowUp')).toBe(middle);
  expect(neighbour(all, below, 'ArrowLeft')).toBe(belowAside);
});

it('stays if there is no box in this direction, and for other keys', () => {
  expect(neighbour(all, below, 'ArrowDown')).toBeUndefined();
  expect(neighbour(all, middle, 'Enter')).toBeUndefined();
});
