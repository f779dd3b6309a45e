import { checkObject } from '@tilewise/core';

/**
 * Values by tensor id, as a caller may give them: a map, such as the constants of `traceGraph`, or an object.
 */
export type ById<T> = ReadonlyMap<number, T> | Readonly<Record<number, T>>;

/** Values by name, as a caller may give them. */
export type ByName<T> = ReadonlyMap<string, T> | Readonly<Record<string, T>>;

/**
 * Values by tensor id as a map. A key that is no number, such as a tensor's name, stays as it is, and is the
 * id of no tensor.
 * @throws InvalidArgumentError for a value that is neither a map nor an object.
 */
export const mapById = <T>(argument: string, given: ById<T> = {}): ReadonlyMap<number, T> =>
  new Map(
    [...mapByName(argument, given)].map(([id, value]) => [
      Number(id) >= 0 ? Number(id) : (id as number),
      value,
    ]),
  );

/** Values by name as a map. @throws as `mapById`. */
export function mapByName<K, T>(
  argument: string,
  given: ReadonlyMap<K, T> | Readonly<Record<string, T>>,
): ReadonlyMap<K | string, T> {
  if (given instanceof Map) return given;
  checkObject(argument, given, ' or a Map');
  return new Map(Object.entries(given));
}
