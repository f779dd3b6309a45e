import { UsageError } from './suite.ts';

/** Parses and checks a list of choices such as `f32,f16`. */
export function parseChoices<T extends string>(option: string, text: string, choices: readonly T[]): T[] {
  return text.split(',').map(item => {
    const found = choices.find(choice => choice === item.trim());
    if (!found) throw new UsageError(`--${option} must be one of ${choices.join(', ')}, got '${item}'.`);
    return found;
  });
}
