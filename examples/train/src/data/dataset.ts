import type { PhiloxStream } from '@tilewise/philox';
import type { Vocabulary } from './vocabulary.ts';

/** Sequences to predict: each list is (count·context), sequence by sequence. */
export interface Batch {
  readonly tokens: Int32Array;
  /** What is right at each token. */
  readonly labels: Int32Array;
  /** How much each token counts; they sum to 1. */
  readonly weights: Float32Array;
}

/** The kinds of things to learn. */
export type Task = 'recall' | 'text';

/** Something to learn. */
export interface Dataset {
  readonly task: Task;
  /** What it is, as a sentence. */
  readonly description: string;
  readonly vocabulary: Vocabulary;
  /** False of what a model can only read, not learn. */
  readonly hasSequences: boolean;
  /**
   * Random sequences; equal streams give equal ones. Of a text, those that are held out are never among those
   * for training.
   * @throws InvalidArgumentError when it has no sequences of this length.
   */
  draw(random: PhiloxStream, count: number, context: number, part: 'training' | 'held out'): Batch;
}
