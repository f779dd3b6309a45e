/** The HTML of a formula, in which words that stand alone in an element, as `\text{given}`, are replaced. */
export function withWords(html: string, words: Readonly<Record<string, string>>): string {
  return html.replace(/>([^<>]+)</g, (written, text: string) => {
    const word = text.replaceAll('\u00a0', ' ');
    return Object.hasOwn(words, word) ? `>${words[word]}<` : written;
  });
}
