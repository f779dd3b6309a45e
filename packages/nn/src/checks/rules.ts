import type { TensorEngine } from '@tilewise/core/primitive';
import type { Rule } from './check-fields.ts';

/** A rule for a field that must be given. */
export const required = (rule: Rule): Rule => ({ ...rule, isRequired: true });

/** A rule for numbers, which must be finite. */
export const numberRule = (rule: string, holds: (x: number) => boolean = () => true): Rule => ({
  rule,
  holds: x => Number.isFinite(x) && holds(x as number),
});

/** An integer of at least `least`. */
export const integerFrom = (least: number): Rule =>
  numberRule(`must be an integer ≥ ${least}`, x => Number.isSafeInteger(x) && x >= least);

/** A number of at least 0. */
export const fromZero: Rule = numberRule('must be a number ≥ 0', x => x >= 0);

/** A number above 0. */
export const aboveZero: Rule = numberRule('must be a number > 0', x => x > 0);

/** A number of at least 0 and below 1, such as a probability of dropout. */
export const belowOne: Rule = numberRule('must be in [0, 1)', x => x >= 0 && x < 1);

/** A number from 0 to 1. */
export const fraction: Rule = numberRule('must be in [0, 1]', x => x >= 0 && x <= 1);

export const oneOf = (...values: readonly unknown[]): Rule => ({
  rule: `must be one of ${values.join(', ')}`,
  holds: value => values.includes(value),
});

export const flag: Rule = { rule: 'must be true or false', holds: x => typeof x === 'boolean' };

export const text: Rule = { rule: 'must be a string', holds: x => typeof x === 'string' };

export const callback: Rule = { rule: 'must be a function', holds: x => typeof x === 'function' };

/** A number of at least 0, or a function that returns one; its results are checked when it is called. */
export const numberOrFunction: Rule = {
  rule: 'must be a number ≥ 0, or a function',
  holds: x => fromZero.holds(x) || callback.holds(x),
};

/** An engine that runs graphs: a context of `@tilewise/webgpu` is not one. */
export const engineRule: Rule = {
  rule: 'must be an engine, such as cpuEngine() or webgpuEngine(ctx)',
  holds: x => hasMethod((x as Partial<TensorEngine> | null | undefined)?.primitives, 'prepare'),
};

/** For a field that is checked where it is used, such as a seed by `toU64`. */
export const anything: Rule = { rule: 'must be given', holds: x => x !== undefined };

export const signalRule: Rule = {
  rule: 'must be an AbortSignal',
  holds: x => hasMethod(x, 'throwIfAborted'),
};

/** An array of integers of at least 0. */
export const integers: Rule = {
  rule: 'must be an array of integers ≥ 0',
  holds: x => Array.isArray(x) && x.every(integerFrom(0).holds),
};

/** An array of strings that is not empty. */
export const texts: Rule = {
  rule: 'must be a non-empty array of strings',
  holds: x => Array.isArray(x) && x.length > 0 && x.every(text.holds),
};

/**
 * Whether a value has a method of this name. Unlike `instanceof`, this accepts objects that another window or
 * another copy of a module has made.
 */
export function hasMethod(value: unknown, name: string | symbol): boolean {
  return (
    typeof (value as Readonly<Record<string | symbol, unknown>> | null | undefined)?.[name] === 'function'
  );
}
