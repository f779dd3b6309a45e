import { expect, test } from 'vitest';
import { defaultSteps, parseOptions, UsageError } from './options.ts';

test('without arguments, everything has a default', () => {
  expect(parseOptions([])).toEqual({
    engine: undefined,
    steps: defaultSteps,
    seed: 0,
    json: false,
    help: false,
  });
});

test('reads every option, also after the dashes that pnpm hands on', () => {
  const expected = { engine: 'reference', steps: 7, seed: 12, json: true, help: false };
  const args = ['--engine', 'reference', '--steps=7', '--seed', '12', '--json'];
  expect(parseOptions(args)).toEqual(expected);
  expect(parseOptions(['--', ...args])).toEqual(expected);
  expect(parseOptions(['-h']).help).toBe(true);
});

test.each([
  [['--stepz', '3'], /--stepz/],
  [['fast'], /fast/],
  [['--steps'], /--steps/],
  [['--steps', '0'], /--steps must be a whole number of at least 1, got '0'/],
  [['--steps', '1e3'], /--steps must be .* got '1e3'/],
  [['--seed', '-1'], /--seed/],
  [['--engine', 'gpu'], /--engine must be one of reference, cpu, webgpu, got 'gpu'/],
])('%j is an error that says what is wrong', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});
