import { expect, test } from 'vitest';
import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError, TilewiseError } from '../src/errors.ts';

/** Rules by name: what breaks a rule in an otherwise valid call, and the resulting error. */
export type RuleCases = Readonly<
  Record<string, readonly [broken: Readonly<Record<string, unknown>>, error: string]>
>;

const codes: Readonly<Record<string, abstract new (...args: never[]) => TilewiseError>> = {
  INVALID_ARGUMENT: InvalidArgumentError,
  INVALID_SHAPE: InvalidShapeError,
  INVALID_DTYPE: InvalidDTypeError,
};

/** Tests each rule: the class of the error matches its code, and its message starts with its argument. */
export function testRules(run: (call: object) => unknown, valid: object, rules: RuleCases): void {
  test.each(Object.entries(rules))('%s', (_, [broken, message]) => {
    const error = errorOf(() => run({ ...valid, ...broken }));
    expect(String(error)).toBe(message);
    expect(error).toBeInstanceOf(codes[error.code]);
    expect(error.message.split(' ')[0]).toBe(error.argument);
  });
}

function errorOf(call: () => unknown): TilewiseError {
  try {
    call();
  } catch (error) {
    if (error instanceof TilewiseError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
