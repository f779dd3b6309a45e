/**
 * A function that makes its value at the first call, and gives the same value from then on. A call that
 * throws is made again.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
