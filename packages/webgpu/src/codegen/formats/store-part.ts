/**
 * `NAME_store_part(at, bits)`: replaces the two bytes, or the one, of element `at`; the rest of its word is
 * somebody else's. No other invocation writes this part, so the two steps need not be one.
 */
export function storePart(name: string, bytes: 1 | 2): string {
  const perWord = 4 / bytes;
  return `fn ${name}_store_part(at: u32, bits: u32) {
  let word = at / ${perWord}u;
  let shift = (at % ${perWord}u) * ${8 * bytes}u;
  atomicAnd(&${name}[word], ~(${2 ** (8 * bytes) - 1}u << shift));
  atomicOr(&${name}[word], bits << shift);
}`;
}
