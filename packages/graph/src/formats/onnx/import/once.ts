/**
 * Returns a function that computes its value on the first call and returns the same value afterwards. If a
 * call throws, the next call computes the value again.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
