import type { CharacterTokenizer } from '@tilewise/nn';
import type { PhiloxStream } from '@tilewise/philox';

/** Rows of tokens, and the tokens to predict: the same tokens where a prediction counts, −100 elsewhere. */
export type Sequences = Readonly<Record<'tokens' | 'labels', readonly number[][]>>;

/** A data set to learn from. */
export interface Dataset {
  readonly task: 'recall' | 'text';
  /** A description of the data set in one sentence. */
  readonly description: string;
  readonly vocabulary: CharacterTokenizer;
  /** False for data that a model can only continue, not learn from. */
  readonly hasSequences: boolean;
  /**
   * Random sequences; equal streams give equal sequences. Held-out parts of a text never occur in the
   * sequences for training.
   * @throws InvalidArgumentError if there are no sequences of this length.
   */
  draw(random: PhiloxStream, count: number, context: number, part: 'training' | 'held out'): Sequences;
}
