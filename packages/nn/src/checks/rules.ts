import type { FieldRule } from './check-fields.ts';

/** A rule for a field that must be given. */
export const required = (rule: FieldRule): FieldRule => ({ ...rule, isRequired: true });

/** A rule for numbers, which must be finite. */
export const numberRule = (rule: string, holds: (x: number) => boolean = () => true): FieldRule => ({
  rule,
  holds: x => Number.isFinite(x) && holds(x as number),
});

export const integerFrom = (least: number): FieldRule =>
  numberRule(`must be an integer ≥ ${least}`, x => Number.isSafeInteger(x) && x >= least);

export const fromZero: FieldRule = numberRule('must be ≥ 0', x => x >= 0);

/** A number of at least 0 and below 1, such as a probability of dropout. */
export const belowOne: FieldRule = numberRule('must be in [0, 1)', x => x >= 0 && x < 1);

/** A number from 0 to 1. */
export const fraction: FieldRule = numberRule('must be in [0, 1]', x => x >= 0 && x <= 1);

export const oneOf = (...values: readonly unknown[]): FieldRule => ({
  rule: `must be one of ${values.join(', ')}`,
  holds: value => values.includes(value),
});

export const flag: FieldRule = { rule: 'must be true or false', holds: x => typeof x === 'boolean' };

export const text: FieldRule = { rule: 'must be a string', holds: x => typeof x === 'string' };

export const callback: FieldRule = { rule: 'must be a function', holds: x => typeof x === 'function' };

/** A number of at least 0, or a function that returns one; its results are checked when it is called. */
export const numberOrFunction: FieldRule = {
  rule: 'must be a number ≥ 0, or a function',
  holds: x => fromZero.holds(x) || callback.holds(x),
};

/** For a field that is checked where it is used. */
export const anything: FieldRule = { rule: 'must be given', holds: () => true };

/** A seed of random numbers. */
export const seedRule: FieldRule = {
  rule: 'must be a bigint or a safe integer in [0, 2^64)',
  holds: x =>
    typeof x === 'bigint' ? BigInt.asUintN(64, x) === x : Number.isSafeInteger(x) && Number(x) >= 0,
};

export const signalRule: FieldRule = {
  rule: 'must be an AbortSignal',
  holds: x => hasMethod(x, 'throwIfAborted'),
};

/** An array of integers of at least 0. */
export const integers: FieldRule = {
  rule: 'must be an array of integers ≥ 0',
  holds: x => Array.isArray(x) && x.every(integerFrom(0).holds),
};

/** An array of strings that is not empty. */
export const texts: FieldRule = {
  rule: 'must be a non-empty array of strings',
  holds: x => Array.isArray(x) && x.length > 0 && x.every(text.holds),
};

/** Whether a value has a method of this name: objects of other realms and other copies of a module do. */
export function hasMethod(value: unknown, name: string | symbol): boolean {
  return (
    typeof (value as Readonly<Record<string | symbol, unknown>> | null | undefined)?.[name] === 'function'
  );
}
