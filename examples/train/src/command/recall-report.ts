import { drawRecall, type Question } from '../data/recall.ts';
import { randomStream } from '../random.ts';
import type { Run } from '../run.ts';
import { drawHead } from './picture.ts';

/** Sequences over which heads are compared. */
const SEQUENCES = 16;

/** A head, and how much of its attention lies where it was looked for, on average. */
export interface HeadMass {
  readonly layer: number;
  readonly head: number;
  readonly mass: number;
}

/** Attention maps of a sequence: of each layer (heads, S, S). */
export type AttentionMaps = readonly { readonly shape: readonly number[]; get(...index: number[]): number }[];

/**
 * The head of all layers that attends most to the given places, over some sequences and the places in each.
 */
export function strongestHead(
  maps: readonly AttentionMaps[],
  places: readonly (readonly Question[])[],
): HeadMass {
  const count = places.flat().length;
  const masses = maps[0].flatMap(({ shape: [heads] }, layer) =>
    Array.from({ length: heads }, (_, head): HeadMass => {
      const all = maps.flatMap((layers, n) =>
        places[n].map(({ from, to }) => layers[layer].get(head, from, to)),
      );
      return { layer, head, mass: all.reduce((sum, x) => sum + x, 0) / count };
    }),
  );
  return masses.reduce((a, b) => (b.mass > a.mass ? b : a));
}

/** The picture of the head that looks most at where the answers stand, and what to see in it. */
export async function describeHeads(run: Run, colour: boolean): Promise<string> {
  const { tokens, questions } = drawRecall(randomStream(0, 'picture'), SEQUENCES, run.config.context);
  const maps = [];
  for (const row of tokens) maps.push(await run.attentionMaps(row));
  const letters = questions.map(all => all.map((_, n): Question => ({ from: 2 * n + 1, to: 2 * n })));
  const induction = strongestHead(maps, questions);
  const previous = strongestHead(maps, letters);
  const picture = drawHead({
    names: [...run.data.vocabulary.decode(tokens[0])],
    weights: maps[0][induction.layer].slice(0, induction.head, induction.head + 1).toFloat32(),
    questions: questions[0].map(({ from, to }) => ({ row: from, column: to })),
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
