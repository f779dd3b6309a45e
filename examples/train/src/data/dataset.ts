import type { CharacterTokenizer } from '@tilewise/nn';
import type { PhiloxStream } from '@tilewise/philox';

/** Rows of tokens, and the same tokens where they are to be predicted, −100 elsewhere. */
export type Sequences = Readonly<Record<'tokens' | 'labels', readonly number[][]>>;

/** Something to learn. */
export interface Dataset {
  readonly task: 'recall' | 'text';
  /** The data set in a sentence. */
  readonly description: string;
  readonly vocabulary: CharacterTokenizer;
  /** False of what a model can only read, not learn. */
  readonly hasSequences: boolean;
  /**
   * Random sequences; equal streams give equal ones. Parts of a text that are held out are never among those
   * for training.
   * @throws InvalidArgumentError when there are no sequences of this length.
   */
  draw(random: PhiloxStream, count: number, context: number, part: 'training' | 'held out'): Sequences;
}
