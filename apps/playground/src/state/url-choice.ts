import { useUrlState } from './url-state.ts';

/** One of several words in the URL; any other word counts as the default. */
export function useUrlChoice<T extends string>(
  name: string,
  choices: readonly T[],
  initial: T,
): [T, (value: T) => void] {
  const [written, set] = useUrlState(name, initial);
  const chosen = choices.find(choice => choice === written) ?? initial;
  return [chosen, set];
}

/** An on–off choice in the URL. */
export function useUrlFlag(name: string, initial = false): [boolean, (value: boolean) => void] {
  const [word, set] = useUrlChoice(name, ['on', 'off'], initial ? 'on' : 'off');
  return [word === 'on', value => set(value ? 'on' : 'off')];
}
