import { input } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import type { PrimitiveStep, ProgramValue } from '../../../ir/program/program.ts';
import { groupSteps } from './group-steps.ts';

const desc = { dtype: 'f32', shape: [4], strides: [1] } as const;
const given = (tensor: number, count = 4): ProgramValue => ({
  ...{ kind: 'input', tensor, desc: { ...desc, shape: [count] } },
});
const result = (tensor: number): ProgramValue => ({ kind: 'output', tensor, desc });
const temporary: ProgramValue = { kind: 'temporary', desc };
const map = (inputs: readonly number[], output: number): PrimitiveStep => ({
  ...{ kind: 'primitive', primitive: { kind: 'map', value: input(0) } },
  ...{ inputs, outputs: [output] },
});
const softmax = (from: number, to: number): PrimitiveStep => ({
  ...{ kind: 'primitive', primitive: { kind: 'softmax', axis: 0, log: false, mode: 'none' } },
  ...{ inputs: [from], outputs: [to] },
});

/** The places where groups of maps run, with the number of their members. */
const placesOf = (steps: readonly PrimitiveStep[], values: readonly ProgramValue[]): number[][] =>
  groupSteps(steps, values, () => true).map(({ place, members }) => [place, members.length]);

test('a map joins the latest step if nothing reads a result in between', () => {
  const values = [given(0), temporary, temporary, result(1)];
  expect(placesOf([map([0], 1), map([0], 2), map([1, 2], 3)], values)).toEqual([[2, 3]]);
});

test('a map joins an earlier step that wrote its inputs', () => {
  const values = [given(0, 1), temporary, result(1), result(2)];
  expect(placesOf([map([0], 1), softmax(1, 2), map([1], 3)], values)).toEqual([[0, 2]]);
});

test('a map does not move if another step reads or writes its result before', () => {
  const values = [given(0, 1), temporary, temporary, result(1)];
  expect(placesOf([map([0], 1), softmax(1, 2), softmax(1, 3), map([1], 2)], values)).toEqual([
    [0, 1],
    [3, 1],
  ]);
});

test('a map that reads a later result, or memory that is written again, does not move', () => {
  const values = [given(0), temporary, temporary, result(1)];
  expect(placesOf([map([0], 1), softmax(1, 2), map([1, 2], 3)], values)).toEqual([
    [0, 1],
    [2, 1],
  ]);
  expect(placesOf([map([0], 1), softmax(1, 2), softmax(2, 1), map([1], 3)], values)).toEqual([
    [0, 1],
    [3, 1],
  ]);
});

test('a map whose result may overwrite an input stays after the last step that reads the input', () => {
  const steps = [map([0], 1), softmax(1, 2), map([1], 3)];
  expect(placesOf(steps, [given(0), temporary, result(1), temporary])).toEqual([[0, 2]]);
  expect(placesOf(steps, [given(0, 8), temporary, result(1), result(2)])).toEqual([[0, 2]]);
  expect(placesOf(steps, [given(0), temporary, result(1), result(2)])).toEqual([
    [0, 1],
    [2, 1],
  ]);
});
