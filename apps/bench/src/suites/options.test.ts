import { describe, expect, test } from 'vitest';
import { type SuiteOptions, UsageError } from '../suite/suite.ts';
import { decode } from './gpu/decode.ts';
import { train } from './train.ts';

/** Runs a suite up to its first row. */
async function firstRow(suite: typeof decode, options: SuiteOptions): Promise<unknown> {
  const rows = suite.run(options, () => {}) as AsyncIterable<unknown>;
  return rows[Symbol.asyncIterator]().next();
}

describe('options that could not have an effect are refused before any work', () => {
  test.each([
    ['a text on two engines', decode, { engine: 'cpu,webgpu' }, '--engine must be one of cpu, webgpu'],
    ['a text of two models', decode, { model: 'llama,gpt2' }, '--model must be one of'],
    ['decoding on threads of a GPU', decode, { engine: 'webgpu', threads: true }, '--threads needs the cpu'],
    ['training on threads of a GPU', train, { engine: 'webgpu', threads: true }, '--threads needs the cpu'],
  ] as const)('%s', async (_, suite, options, message) => {
    const failed = firstRow(suite, options);
    await expect(failed).rejects.toThrow(UsageError);
    await expect(failed).rejects.toThrow(message);
  });
});
