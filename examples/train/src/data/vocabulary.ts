import { InvalidArgumentError } from '@tilewise/core';

/** Tokens that are characters. */
export interface Vocabulary {
  /** The character (a code point) of each token. */
  readonly characters: readonly string[];
  /** @throws InvalidArgumentError for a character that no token stands for. */
  encode(text: string): number[];
  decode(tokens: Iterable<number>): string;
}

/** The vocabulary of some characters, in this order. */
export function vocabularyOf(characters: readonly string[]): Vocabulary {
  const tokenOf = new Map(characters.map((character, token) => [character, token]));
  return {
    characters,
    encode: text =>
      Array.from(text, character => {
        const token = tokenOf.get(character);
        if (token !== undefined) return token;
        throw new InvalidArgumentError(
          'text',
          `has ${JSON.stringify(character)}, which the model has never seen`,
        );
      }),
    decode: tokens => Array.from(tokens, token => characters[token] ?? '\ufffd').join(''),
  };
}

/** The characters of a text, each once, in the order of their code points. */
export function charactersOf(text: string): string[] {
  return [...new Set(text)].sort((a, b) => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0));
}
