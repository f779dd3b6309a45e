import { expect, test } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

test('without arguments, the task decides the values of options', () => {
  expect(parseOptions([])).toEqual({ config: {}, temperature: 0.8, json: false, help: false });
});

test('reads every option, also after the dashes that pnpm passes on', () => {
  const expected = {
    engine: 'reference',
    text: 'book.txt',
    save: 'out',
    steps: 7,
    seed: 12,
    config: { layers: 3, heads: 2, dim: 8, context: 9, batch: 4, learningRate: 1e-3, dropout: 0 },
    sample: 'Once',
    length: 5,
    temperature: 0,
    topK: 3,
    json: true,
    help: false,
  };
  const args =
    '--engine reference --text book.txt --save out --steps=7 --seed 12 --layers 3 --heads 2 --dim 8 --context 9 --batch 4 ' +
    '--lr 1e-3 --dropout 0 --sample Once --length 5 --temperature 0 --top-k 3 --json';
  expect(parseOptions(args.split(' '))).toEqual(expected);
  expect(parseOptions(['--', ...args.split(' ')])).toEqual(expected);
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
  [['--lr', 'high'], /--lr must be a number of at least 0, got 'high'/],
  [['--lr', '0'], /learningRate must be above 0, got 0/],
  [['--dropout', '1'], /dropout must be in \[0, 1\), got 1/],
  [['--dim', '10', '--heads', '4'], /dim must be divisible by heads, 4, got 10/],
  [['--temperature=-1'], /--temperature must be a number of at least 0, got '-1'/],
  [['--load', 'x', '--layers', '3'], /--layers cannot be given: the file of --load decides it/],
  [['--load', 'x', '--seed', '3'], /--seed cannot be given: the file of --load decides it/],
])('%j is an error that says what is wrong', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});
