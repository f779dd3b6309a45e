/**
 * The names of the optional fields that may be omitted but must not be `undefined`, which `{ scale: maybe }`
 * can give them: an error under `exactOptionalPropertyTypes`.
 */
export type Closed<O> = O extends unknown
  ? {
      [K in keyof O]-?: IsOptional<O, K> extends true ? (Takes<O, K> extends true ? never : K) : never;
    }[keyof O]
  : never;

type IsOptional<O, K extends keyof O> = Record<never, never> extends Pick<O, K> ? true : false;
type Takes<O, K extends keyof O> = Record<K, undefined> extends Pick<O, K> ? true : false;

/** Compiles only if there is no such name; otherwise the error lists the names. */
export function none<_Name extends never>(): void {}
