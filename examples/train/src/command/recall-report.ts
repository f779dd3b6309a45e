import type { Tensor } from '@tilewise/core';
import { drawRecall, type Question } from '../data/recall.ts';
import { randomStream } from '../random.ts';
import type { Run } from '../run.ts';
import { drawHead } from './picture.ts';

/** The number of sequences over which heads are compared. */
const SEQUENCES = 16;

/**
 * The head, of all layers, with the largest share of its attention at the given places.
 * @param layers (B, heads, S, S) for each layer: attention over B sequences.
 * @param places the places of each sequence.
 */
export function strongestHead(
  layers: readonly Tensor[],
  places: readonly (readonly Question[])[],
): { readonly layer: number; readonly head: number; readonly mass: number } {
  const masses = layers.flatMap((map, layer) =>
    Array.from({ length: map.shape[1] }, (_, head) => {
      const all = places.flatMap((own, n) => own.map(({ from, to }) => map.get(n, head, from, to)));
      return { layer, head, mass: all.reduce((sum, x) => sum + x, 0) / all.length };
    }),
  );
  return masses.reduce((a, b) => (b.mass > a.mass ? b : a));
}

/** The picture of the head that looks most at the answers, and an explanation. */
export async function describeHeads(run: Run, colour: boolean): Promise<string> {
  const { tokens, questions } = drawRecall(randomStream(0, 'picture'), SEQUENCES, run.config.context);
  const layers = await run.model.attentionProbabilities({ tokens });
  const letters = questions.map(all => all.map((_, n): Question => ({ from: 2 * n + 1, to: 2 * n })));
  const { layer, head, mass } = strongestHead(layers, questions);
  const previous = strongestHead(layers, letters);
  const names = [...run.data.vocabulary.decode(tokens[0])];
  const weights = layers[layer]
    .slice(0, 0, 1)
    .slice(1, head, head + 1)
    .toFloat32();
  return [
    `Head ${head} of layer ${layer} on one of them:\n`,
    `${drawHead(names, weights, questions[0], colour)}\n`,
    explainHead(mass, previous, colour),
  ].join('\n');
}

/**
 * What the picture shows, or would show after more training.
 * @param mass the share of the head's attention that is on the right digits.
 * @param previous the head that looks most from a digit at the letter before it.
 */
export function explainHead(
  mass: number,
  previous: { readonly layer: number; readonly head: number; readonly mass: number },
  colour: boolean,
): string {
  const percent = (share: number): string => `${Math.round(100 * share)}%`;
  const place = `${colour ? 'bright' : 'dark'} in one place: at the digit that`;
  if (mass < 0.5)
    return [
      'In each row marked ?, a letter is repeated. The model has not yet learned to look up its digit: after',
      `enough steps, the row is ${place} followed this letter the`,
      `first time. The head that looks there most has ${percent(mass)} of its attention there (mean of ${SEQUENCES} sequences).`,
    ].join('\n');
  return [
    `In each row marked ?, a letter is repeated. The row is ${place}`,
    `followed this letter the first time. This induction head has ${percent(mass)} of its attention there (mean of`,
    `${SEQUENCES} sequences). It can find the place because head ${previous.head} of layer ${previous.layer} lets each digit look at the letter`,
    `before it (${percent(previous.mass)}).`,
  ].join('\n');
}
