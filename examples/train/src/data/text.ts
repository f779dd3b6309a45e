import { InvalidArgumentError } from '@tilewise/core';
import { below } from '../random.ts';
import type { Dataset } from './dataset.ts';
import { charactersOf, type Vocabulary, vocabularyOf } from './vocabulary.ts';

/** The last part of a text, which is held out. */
const HELD_OUT = 0.1;

/**
 * A text whose next character is to be predicted, everywhere.
 * @param vocabulary that of a model that is to read it; without it, the characters of the text.
 * @throws InvalidArgumentError for an empty text, or one with characters that are not in the vocabulary.
 */
export function textDataset(
  text: string,
  vocabulary: Vocabulary = vocabularyOf(charactersOf(text)),
): Dataset {
  const tokens = vocabulary.encode(text);
  if (tokens.length === 0) throw new InvalidArgumentError('text', 'is empty');
  const split = Math.floor(tokens.length * (1 - HELD_OUT));
  const parts = { training: tokens.slice(0, split), 'held out': tokens.slice(split) };
  const size = `${tokens.length.toLocaleString('en')} characters, ${vocabulary.characters.length} different ones`;
  return {
    ...{
      task: 'text',
      description: `the next character of a text of ${size}`,
      vocabulary,
      hasSequences: true,
    },
    draw(random, count, context, name) {
      const part = parts[name];
      const starts = part.length - context + 1;
      if (starts < 1) {
        const rule = `must have at least ${context} characters in its ${name} part, the context, got ${part.length}`;
        throw new InvalidArgumentError('text', rule);
      }
      const rows = Array.from({ length: count }, () => {
        const start = below(random, starts);
        return part.slice(start, start + context);
      });
      return { tokens: rows, labels: rows };
    },
  };
}

/** No text, but what texts are written in: for a model that is to continue some. */
export function vocabularyDataset(vocabulary: Vocabulary): Dataset {
  return {
    ...{ task: 'text', description: 'the next character of a text', vocabulary, hasSequences: false },
    draw() {
      throw new InvalidArgumentError('text', 'is needed for sequences of it');
    },
  };
}
