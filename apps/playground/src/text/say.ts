/** The sentences of a catalogue for a union of data: a function for each `kind`. */
export type Sentences<T extends { readonly kind: string }> = {
  readonly [K in T['kind']]: (value: Extract<T, { readonly kind: K }>) => string;
};

/** The sentence of a catalogue for some data, by its `kind`. */
export function say<T extends { readonly kind: string }>(value: T, sentences: Sentences<T>): string {
  // TypeScript cannot infer that the function with this key takes this argument.
  return sentences[value.kind as T['kind']](value as Extract<T, { readonly kind: T['kind'] }>);
}
