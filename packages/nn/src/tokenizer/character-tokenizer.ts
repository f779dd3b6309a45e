import { InvalidArgumentError } from '@tilewise/core';
import { checkArgument } from '../checks/check-fields.ts';
import { text, texts } from '../checks/rules.ts';

/** A tokenizer whose tokens are characters: Unicode code points. */
export interface CharacterTokenizer {
  /** The character of each token. */
  readonly characters: readonly string[];
  /**
   * The tokens of a text.
   * @throws InvalidArgumentError for a value that is not a string, and for a character for which there is no
   * token.
   */
  encode(text: string): number[];
  /** The text of tokens; U+FFFD for a token that stands for no character. */
  decode(tokens: Iterable<number>): string;
}

/**
 * A tokenizer whose tokens are characters, for a model that is trained from scratch.
 * @param given the characters in the order of their tokens; or a text, whose distinct characters are used in
 * the order of their code points.
 * @throws InvalidArgumentError for anything else.
 */
export function characterTokenizer(given: string | readonly string[]): CharacterTokenizer {
  checkArgument('given', given, {
    rule: 'must be a string or a list of characters',
    holds: x => text.holds(x) || texts.holds(x),
  });
  const codes = typeof given === 'string' ? Array.from(given, one => one.codePointAt(0) ?? 0) : [];
  const sorted = [...new Set(codes)].sort((a, b) => a - b);
  const characters = typeof given === 'string' ? sorted.map(code => String.fromCodePoint(code)) : given;
  const tokenOf = new Map(characters.map((character, token) => [character, token]));
  const encode = (character: string): number => {
    const token = tokenOf.get(character);
    if (token !== undefined) return token;
    throw new InvalidArgumentError('text', `has ${JSON.stringify(character)}, which has no token`);
  };
  return {
    characters,
    encode(value) {
      checkArgument('text', value, text);
      return Array.from(value, encode);
    },
    decode: tokens => Array.from(tokens, token => characters[token] ?? '\ufffd').join(''),
  };
}
