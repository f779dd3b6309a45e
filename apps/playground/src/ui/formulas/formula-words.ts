/** A formula with the words of a language in place of those that stand in it as `\text{given}`. */
export function withWords(tex: string, words: Readonly<Record<string, string>>): string {
  return tex.replace(/\\text\{([^}]*)\}/g, (written, word: string) =>
    Object.hasOwn(words, word) ? `\\text{${words[word]}}` : written,
  );
}
