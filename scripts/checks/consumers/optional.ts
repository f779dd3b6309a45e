/**
 * Names of the optional fields that may be left out, but not be given as `undefined`, which `{ scale: maybe
 * }` gives them: an error under `exactOptionalPropertyTypes`.
 */
export type Closed<O> = O extends unknown
  ? {
      [K in keyof O]-?: IsOptional<O, K> extends true ? (Takes<O, K> extends true ? never : K) : never;
    }[keyof O]
  : never;

type IsOptional<O, K extends keyof O> = Record<never, never> extends Pick<O, K> ? true : false;
type Takes<O, K extends keyof O> = Record<K, undefined> extends Pick<O, K> ? true : false;

/** Compiles where there is no such name; the error has those that there are. */
export function none<_Name extends never>(): void {}
