import { drawRecall } from '../data/recall.ts';
import { type Look, strongestHead } from '../prediction/head-mass.ts';
import { randomStream } from '../random-streams.ts';
import type { Trainer } from '../training/trainer.ts';
import { drawHead } from './picture.ts';

/** Sequences over which heads are compared. */
const SEQUENCES = 16;

/** The picture of the head that looks most at where the answers stand, and what to see in it. */
export async function describeHeads(trainer: Trainer, colour: boolean): Promise<string> {
  const { context } = trainer.config;
  const batch = drawRecall(randomStream(0, 'picture'), SEQUENCES, context);
  const { pairs } = batch;
  const sequences = Array.from({ length: SEQUENCES }, (_, n) =>
    batch.tokens.subarray(n * context, (n + 1) * context),
  );
  const maps = [];
  for (const tokens of sequences) maps.push(await trainer.attentionMaps(tokens));
  const answers = sequences.map((_, n) =>
    Array.from(
      batch.questions.subarray(n * pairs, (n + 1) * pairs),
      (at, i): Look => ({
        from: at % context,
        to: batch.sources[n * pairs + i] % context,
      }),
    ),
  );
  const before = sequences.map(() =>
    Array.from({ length: 2 * pairs }, (_, n): Look => ({ from: 2 * n + 1, to: 2 * n })),
  );
  const induction = strongestHead(maps, answers);
  const previous = strongestHead(maps, before);
  const picture = drawHead({
    names: [...trainer.data.vocabulary.decode(sequences[0])],
    weights: maps[0][induction.layer].slice(0, induction.head, induction.head + 1).toFloat32(),
    questions: answers[0].map(({ from, to }) => ({ row: from, column: to })),
    colour,
  });
  const percent = (mass: number): string => `${Math.round(100 * mass)}%`;
  return [
    `Head ${induction.head} of layer ${induction.layer} on one of them:\n`,
    `${picture}\n`,
    `In each row marked ? a letter comes again. See how the row is ${colour ? 'bright' : 'dark'} in one place: at the digit`,
    `that stood behind this letter the first time. This induction head has ${percent(induction.mass)} of its attention there (mean of`,
    `${SEQUENCES} sequences). It can find the place because head ${previous.head} of layer ${previous.layer} lets each digit look at the letter`,
    `before it (${percent(previous.mass)}).`,
  ].join('\n');
}
