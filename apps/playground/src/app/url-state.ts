import { useCallback, useSyncExternalStore } from 'react';

/** Where the visitor is: a chapter, and that chapter's state by name. */
export interface Place {
  readonly chapter: string;
  readonly state: Readonly<Record<string, string>>;
}

/** Reads `#/chapter?name=value`. The hash, so that a static build works from any path. */
export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { chapter: path, state: Object.fromEntries(new URLSearchParams(query)) };
}

export function placeHash({ chapter, state }: Place): string {
  const query = new URLSearchParams(state).toString();
  return `#/${chapter}${query && `?${query}`}`;
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('hashchange', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('hashchange', listener);
  };
}

/** Where the visitor is now. */
export function usePlace(): Place {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return parsePlace(hash);
}

/**
 * One value of the chapter's state, kept in the URL so that what a visitor sees can be shared. The default is not written.
 * Changes replace the history entry: Back leaves the chapter.
 */
export function useUrlState(name: string, initial: string): [string, (value: string) => void] {
  const { state } = usePlace();
  const set = useCallback(
    (value: string) => {
      const place = parsePlace(window.location.hash);
      const { [name]: _, ...others } = place.state;
      const next = value === initial ? others : { ...others, [name]: value };
      window.history.replaceState(null, '', placeHash({ ...place, state: next }));
      for (const listener of listeners) listener();
    },
    [name, initial],
  );
  return [state[name] ?? initial, set];
}

/** The same for an integer within bounds; what is no such number in the URL counts as the default. */
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
