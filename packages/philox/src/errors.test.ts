import { describe, expect, it } from 'vitest';
import { checkOptions, InvalidArgumentError, TilewiseError } from './errors.ts';

describe('TilewiseError', () => {
  it('carries a code, the argument and the cause beside the message', () => {
    const cause = new Error('below');
    const error = new TilewiseError('UNSUPPORTED', 'no', { argument: 'q', cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'TilewiseError',
      code: 'UNSUPPORTED',
      argument: 'q',
      message: 'no',
      cause,
    });
  });

  it('is the base of InvalidArgumentError, which fixes the code', () => {
    const error = new InvalidArgumentError('seed', 'must be an integer; got 1.5');
    expect(error).toBeInstanceOf(TilewiseError);
    expect(error).toMatchObject({ name: 'InvalidArgumentError', code: 'INVALID_ARGUMENT', argument: 'seed' });
    expect(String(error)).toBe('InvalidArgumentError: seed must be an integer; got 1.5');
  });

  it('has the property cause only if a cause was given', () => {
    expect('cause' in new TilewiseError('INVALID_OP', 'x')).toBe(false);
    expect('cause' in new InvalidArgumentError('seed', 'is missing')).toBe(false);
  });

  it('keeps the beginning and the end of a message that quotes a very long value', () => {
    const long = 'x'.repeat(1e6);
    const { message, argument } = new InvalidArgumentError('seed', `must be an integer, got "${long}"`);
    expect(message).toMatch(/^seed must be an integer, got "x+ \.\.\. x+"$/);
    expect(message.length).toBeLessThan(2100);
    expect(argument).toBe('seed');
    expect(() => checkOptions('options', { [long]: 1 }, ['dtype'])).toThrow(
      /^x+ \.\.\. x+ is not an option; the options are dtype$/,
    );
  });
});

it('refuses an unknown option, and names the known options', () => {
  expect(() => checkOptions('options', { dtyp: 'f16' }, ['dtype', 'strides'])).toThrow(
    'dtyp is not an option; the options are dtype, strides',
  );
  expect(() => checkOptions('options', null, ['dtype'])).toThrow('options must be an object, got null');
  expect(() => checkOptions('options', { dtype: undefined }, ['dtype'])).not.toThrow();
  expect(() => checkOptions('lora', { r: 8 }, ['rank', 'alpha'])).toThrow(
    'lora.r is not an option; the options are rank, alpha',
  );
  expect(() => checkOptions('lora', 8, ['rank', 'alpha'])).toThrow(
    'lora must be an object of rank, alpha, got 8',
  );
});
