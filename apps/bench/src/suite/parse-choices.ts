import { UsageError } from './suite.ts';

/**
 * Parses and checks a choice such as `f32`.
 * @throws UsageError for any other text.
 */
export function parseChoice<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const found = choices.find(choice => choice === text.trim());
  if (!found) throw new UsageError(`--${option} must be one of ${choices.join(', ')}, got '${text}'.`);
  return found;
}

/**
 * Parses and checks a list of choices such as `f32,f16`.
 * @throws UsageError for an item that is none of the choices.
 */
export function parseChoices<T extends string>(option: string, text: string, choices: readonly T[]): T[] {
  return text.split(',').map(item => parseChoice(option, item, choices));
}
