import { InvalidArgumentError } from '@tilewise/core';
import { type CharacterTokenizer, characterTokenizer } from '@tilewise/nn';
import { below } from '../random.ts';
import type { Dataset } from './dataset.ts';

/** The share of a text that is held out, at its end. */
const HELD_OUT = 0.1;

/**
 * A text in which the model must predict every next character.
 * @param vocabulary the vocabulary of the model that is to read the text; without it, the characters of the
 * text, sorted by code point. With it, the text may be empty: the model is to continue texts, not to learn.
 * @throws InvalidArgumentError for an empty text, or one with characters that are not in the vocabulary.
 */
export function textDataset(text: string, vocabulary?: CharacterTokenizer): Dataset {
  if (text === '' && !vocabulary) throw new InvalidArgumentError('text', 'is empty');
  const known = vocabulary ?? characterTokenizer(text);
  const tokens = known.encode(text);
  const split = Math.floor(tokens.length * (1 - HELD_OUT));
  const parts = { training: tokens.slice(0, split), 'held out': tokens.slice(split) };
  const size = `${tokens.length.toLocaleString('en')} characters, ${known.characters.length} different ones`;
  return {
    task: 'text',
    description: `the next character of a text${text === '' ? '' : ` of ${size}`}`,
    vocabulary: known,
    hasSequences: text !== '',
    draw(random, count, context, name) {
      const { [name]: part } = parts;
      const starts = part.length - context + 1;
      const rule = `must have at least ${context} characters in its ${name} part, the context, got ${part.length}`;
      if (starts < 1) throw new InvalidArgumentError('text', rule);
      const rows = Array.from({ length: count }, () => below(random, starts)).map(start =>
        part.slice(start, start + context),
      );
      return { tokens: rows, labels: rows };
    },
  };
}
