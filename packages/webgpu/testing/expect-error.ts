import { TilewiseError } from '@tilewise/core';
import { expect } from 'vitest';

/** The error that a call throws. */
export function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/**
 * Expects an error of this library, of a given class, that names the argument and says what is wrong with it.
 */
export function expectError(
  error: unknown,
  kind: abstract new (...args: never[]) => TilewiseError,
  argument: string,
  message: RegExp,
): void {
  expect(error).toBeInstanceOf(TilewiseError);
  expect(error).toBeInstanceOf(kind);
  expect((error as TilewiseError).argument).toBe(argument);
  expect((error as TilewiseError).message).toMatch(message);
}
