import { InvalidArgumentError } from '@tilewise/core';
import type { Dataset } from './dataset.ts';
import { below } from './draw.ts';
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
  const parts = { training: tokens.subarray(0, split), 'held out': tokens.subarray(split) };
  const size = `${tokens.length.toLocaleString('en')} characters, ${vocabulary.characters.length} different ones`;
  return {
    task: 'text',
    description: `the next character of a text of ${size}`,
    vocabulary,
    hasSequences: true,
    draw(random, count, context, name) {
      const part = parts[name];
      const starts = part.length - context;
      if (starts < 1) {
        throw new InvalidArgumentError(
          'text',
          `must have more than ${context} characters in its ${name} part, the context, got ${part.length}`,
        );
      }
      const batch = {
        tokens: new Int32Array(count * context),
        labels: new Int32Array(count * context),
        weights: new Float32Array(count * context).fill(1 / (count * context)),
      };
      for (let n = 0; n < count; n++) {
        const start = below(random, starts);
        batch.tokens.set(part.subarray(start, start + context), n * context);
        batch.labels.set(part.subarray(start + 1, start + 1 + context), n * context);
      }
      return batch;
    },
  };
}

/** No text, but what texts are written in: for a model that is to continue some. */
export function vocabularyDataset(vocabulary: Vocabulary): Dataset {
  return {
    task: 'text',
    description: 'the next character of a text',
    vocabulary,
    hasSequences: false,
    draw() {
      throw new InvalidArgumentError('text', 'is needed for sequences of it');
    },
  };
}
