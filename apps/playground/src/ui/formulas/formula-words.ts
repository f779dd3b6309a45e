/** A formula whose English words, written as `\text{given}`, are replaced by those of a language. */
export function withWords(tex: string, words: Readonly<Record<string, string>>): string {
  return tex.replace(/\\text\{([^}]*)\}/g, (written, word: string) =>
    Object.hasOwn(words, word) ? `\\text{${words[word]}}` : written,
  );
}
