import type { LabelledBatch } from '@tilewise/nn';
import type { PhiloxStream } from '@tilewise/philox';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Sequences to predict: rows of tokens, and the same tokens where they are to be predicted, −100 elsewhere.
 */
export interface Sequences {
  readonly tokens: readonly number[][];
  readonly labels: readonly number[][];
}

/** Something to learn. */
export interface Dataset {
  readonly task: 'recall' | 'text';
  /** The data set in a sentence. */
  readonly description: string;
  readonly vocabulary: Vocabulary;
  /** False of what a model can only read, not learn. */
  readonly hasSequences: boolean;
  /**
   * Random sequences; equal streams give equal ones. Of a text, those that are held out are never among those
   * for training.
   * @throws InvalidArgumentError when it has no sequences of this length.
   */
  draw(random: PhiloxStream, count: number, context: number, part: 'training' | 'held out'): Sequences;
}

export const batchOf = ({ tokens, labels }: Sequences): LabelledBatch => ({ inputs: { tokens }, labels });
