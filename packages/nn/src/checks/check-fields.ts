import { checkOptions, describeValue, InvalidArgumentError } from '@tilewise/core';

/** A rule for a field or an argument: its wording in errors, after the name, and the test of a value. */
export interface Rule {
  readonly rule: string;
  holds(value: unknown): boolean;
  /** Whether the field must be given; otherwise it may be undefined. */
  readonly isRequired?: boolean | undefined;
}

/** A rule for each field of an object. */
export type FieldRules<T> = { readonly [name in keyof T]-?: Rule };

/**
 * Checks that an object has no other fields than those that have rules, and that each field meets its rule.
 * @param argument the name of the object in errors; the fields of `options` are named alone.
 * @throws InvalidArgumentError naming the object or the field.
 */
export function checkFields<T>(argument: string, given: T, rules: FieldRules<T>): void {
  checkOptions(argument, given, Object.keys(rules));
  for (const [name, rule] of Object.entries<Rule>(rules)) {
    const value = given[name as keyof T];
    if (value !== undefined || rule.isRequired)
      checkArgument(argument === 'options' ? name : `${argument}.${name}`, value, rule);
  }
}

/** Checks that an argument meets a rule. @throws InvalidArgumentError naming the argument otherwise. */
export function checkArgument(argument: string, value: unknown, { rule, holds }: Rule): void {
  if (!holds(value)) throw new InvalidArgumentError(argument, `${rule}, got ${describeValue(value)}`);
}
