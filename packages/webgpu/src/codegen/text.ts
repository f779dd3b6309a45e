/** Text for each of the numbers 0 to n − 1, joined. */
export const repeat = (n: number, text: (k: number) => string, separator = '\n'): string =>
  Array.from({ length: n }, (_, k) => text(k)).join(separator);
