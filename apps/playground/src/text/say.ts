/** A sentence for each kind of something, in a catalogue. */
export type Sentences<T extends { readonly kind: string }> = {
  readonly [K in T['kind']]: (value: Extract<T, { readonly kind: K }>) => string;
};

/** Says something that is data, in the words that a catalogue has for its kind. */
export function say<T extends { readonly kind: string }>(value: T, sentences: Sentences<T>): string {
  // The key and the argument belong together, which an index into a mapped type does not show.
  return sentences[value.kind as T['kind']](value as Extract<T, { readonly kind: T['kind'] }>);
}
