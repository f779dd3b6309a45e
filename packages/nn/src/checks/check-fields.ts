import { checkOptions, describeValue, InvalidArgumentError } from '@tilewise/core';

/** The rule of a field in words that follow the field's name, and whether a value meets the rule. */
export interface FieldRule {
  readonly rule: string;
  holds(value: unknown): boolean;
  /** Whether the field must be given; otherwise it may be undefined. */
  readonly isRequired?: boolean | undefined;
}

/** A rule for each field of an object. */
export type FieldRules<T> = { readonly [name in keyof T]-?: FieldRule };

/**
 * Checks that an object has no other fields than those that have rules, and that each field meets its rule.
 * @param argument the name of the object in errors; the fields of `options` are named alone.
 * @throws InvalidArgumentError naming the object or the field.
 */
export function checkFields<T>(argument: string, given: T, rules: FieldRules<T>): void {
  checkOptions(argument, given, Object.keys(rules));
  for (const [name, { rule, holds, isRequired }] of Object.entries<FieldRule>(rules)) {
    const value = given[name as keyof T];
    if (value === undefined ? !isRequired : holds(value)) continue;
    const place = argument === 'options' ? name : `${argument}.${name}`;
    throw new InvalidArgumentError(place, `${rule}, got ${describeValue(value)}`);
  }
}
