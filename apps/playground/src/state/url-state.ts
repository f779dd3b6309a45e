import { useCallback, useSyncExternalStore } from 'react';
import { movedChapters } from './moved-chapters.ts';
import { spacedWrites } from './spaced-writes.ts';

/** Where the visitor is: a chapter, and that chapter's state by name. */
export interface Place {
  readonly chapter: string;
  readonly state: Readonly<Record<string, string>>;
}

/** Parses `#/chapter?name=value`. The state is in the hash, so that a static build works from any path. */
export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { chapter: movedChapters.get(path) ?? path, state: Object.fromEntries(new URLSearchParams(query)) };
}

export function placeHash({ chapter, state }: Place): string {
  const query = new URLSearchParams(state).toString();
  return `#/${chapter}${query && `?${query}`}`;
}

/** The state that the page shows; the address follows it. Null until something has changed here. */
let shown: string | null = null;
const listeners = new Set<() => void>();

const currentHash = (): string => shown ?? window.location.hash;

function tell(): void {
  for (const listener of listeners) listener();
}

const address = spacedWrites<string>(hash => {
  const { pathname, search } = window.location;
  window.history.replaceState(null, '', `${pathname}${search}${hash}`);
});

function show(hash: string): void {
  shown = hash;
  address.write(hash);
  tell();
}

/**
 * The visitor followed a link or went back: a write that is still pending belongs to the page that was left.
 */
function followAddress(): void {
  address.cancel();
  shown = null;
  tell();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('hashchange', followAddress);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('hashchange', followAddress);
  };
}

/** Where the visitor is now. */
export function usePlace(): Place {
  return parsePlace(useSyncExternalStore(subscribe, currentHash));
}

/**
 * One value of the chapter's state, stored in the URL so that what a visitor sees can be shared. The default
 * is not written. Changes replace the history entry, so that Back leaves the chapter.
 */
export function useUrlState(name: string, initial: string): [string, (value: string) => void] {
  const { state } = usePlace();
  const set = useCallback(
    (value: string) => {
      const place = parsePlace(currentHash());
      const { [name]: _, ...others } = place.state;
      show(placeHash({ ...place, state: value === initial ? others : { ...others, [name]: value } }));
    },
    [name, initial],
  );
  return [state[name] ?? initial, set];
}

/** A choice of one of a few values, stored in the URL; any other value in the URL counts as the default. */
export function useUrlChoice<T extends string>(
  name: string,
  initial: T,
  choices: readonly T[],
): [T, (value: T) => void] {
  const [written, set] = useUrlState(name, initial);
  return [choices.find(choice => choice === written) ?? initial, set];
}

/** An on–off choice, stored in the URL. */
export function useUrlFlag(name: string): [boolean, (value: boolean) => void] {
  const [word, set] = useUrlChoice(name, 'off', ['on', 'off']);
  return [word === 'on', value => set(value ? 'on' : 'off')];
}

/** An integer within bounds, stored in the URL; any other value in the URL counts as the default. */
export function useUrlNumber(
  name: string,
  initial: number,
  { min, max }: { readonly min: number; readonly max: number },
): [number, (value: number) => void] {
  const [text, setText] = useUrlState(name, String(initial));
  const number = Number(text);
  const valid = Number.isInteger(number) && number >= min && number <= max;
  return [valid ? number : Math.min(max, Math.max(min, initial)), value => setText(String(value))];
}
