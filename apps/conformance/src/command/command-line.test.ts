import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { suites } from '../suites/index.ts';
import { parseCommand, UsageError, usage } from './command-line.ts';

const parse = (...args: string[]) => parseCommand(args, suites);

describe('parseCommand', () => {
  test('fills defaults', () => {
    expect(parse('attention', '--vectors', 'dir')).toMatchObject({
      ...{ suite: { name: 'attention' }, filter: '', json: false },
      ...{ options: { vectors: 'dir', engine: 'reference', dtype: 'f32' } },
    });
  });

  test('reads the given options', () => {
    const args = ['--vectors=dir', '--engine', 'webgpu', '--filter', 'causal', '--json'];
    expect(parse('philox', ...args)).toMatchObject({
      ...{ filter: 'causal', json: true, options: { vectors: 'dir', engine: 'webgpu' } },
    });
  });

  test('runs cases in parallel if they are small and share no GPU, or as requested', () => {
    const processors = availableParallelism();
    expect(parse('cudnn', '--cases', 'file', '--engine', 'cpu').jobs).toBe(processors);
    expect(parse('cudnn', '--cases', 'file', '--engine', 'webgpu').jobs).toBe(1);
    expect(parse('onednn', '--graphs', 'dir', '--engine', 'cpu').jobs).toBe(1);
    expect(parse('onednn', '--graphs', 'dir', '--jobs', '3').jobs).toBe(3);
  });

  test.each([
    ['no suite', [], 'Name a suite.'],
    ['an unknown suite', ['atention'], "There is no suite 'atention'."],
    ['a missing option', ['philox'], 'philox needs --vectors.'],
    ['an unknown option', ['philox', '--vector', 'dir'], "Unknown option '--vector'"],
    [
      'an option of another suite',
      ['philox', '--vectors', 'dir', '--dtype', 'f16'],
      "Unknown option '--dtype'",
    ],
    ['a stray word', ['philox', 'dir'], "Unexpected argument 'dir'"],
    [
      'an unknown engine',
      ['philox', '--vectors', 'dir', '--engine', 'gpu'],
      "--engine must be one of cpu, webgpu, got 'gpu'.",
    ],
    [
      'no point',
      ['pytorch', '--cases', 'file', '--points', '0'],
      "--points must be a whole number of at least 1, got '0'.",
    ],
    [
      'no process',
      ['philox', '--vectors', 'dir', '--jobs', '0'],
      "--jobs must be a whole number of at least 1, got '0'.",
    ],
  ])('refuses %s', (_, args, message) => {
    expect(() => parse(...args)).toThrow(UsageError);
    expect(() => parse(...args)).toThrow(message);
  });
});

test('the usage names every suite with its options', () => {
  const text = usage(suites);
  for (const { name, options } of suites) {
    expect(text).toContain(`  ${name}: `);
    for (const option of Object.keys(options)) expect(text).toContain(`--${option} `);
  }
});

test('the lines of the usage have at most 110 columns', () => {
  const long = usage(suites)
    .split('\n')
    .filter(line => line.length > 110);
  expect(long).toEqual([]);
});
