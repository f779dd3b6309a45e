import { example } from './example.ts';

const { x } = example;
const [bottom, top] = [Math.min(...x) - 0.4, Math.max(...x) + 0.6];

/** Where the figure of the stream draws its bands, in units of its own. */
export interface BandLayout {
  readonly isNarrow: boolean;
  /** The width of a key's column, and of the room for labels left of the first. */
  readonly slot: number;
  readonly left: number;
  readonly width: number;
  readonly height: number;
  readonly scores: Band;
  readonly weights: Band;
  readonly values: { readonly y: number; readonly cell: number };
  /** The position of the words: their base line; if they are turned, their upper end. */
  readonly wordsAt: number;
  /** The position of a score. */
  readonly yOf: (score: number) => number;
}

interface Band {
  readonly y: number;
  readonly height: number;
}

/** Labels beside the bands, words in a line. */
export const wideLayout = layoutOf({ isNarrow: false, slot: 52, left: 64, gap: 0, words: 8 });
/** For a phone: labels above the bands, words turned upwards. */
export const narrowLayout = layoutOf({ isNarrow: true, slot: 25, left: 0, gap: 22, words: 52 });

function layoutOf(sizes: {
  readonly isNarrow: boolean;
  readonly slot: number;
  readonly left: number;
  /** The room above each band for its label. */
  readonly gap: number;
  /** The room below the position of the words. */
  readonly words: number;
}): BandLayout {
  const { isNarrow, slot, left, gap, words } = sizes;
  const scores = { y: 8 + gap, height: 150 };
  const weights = { y: scores.y + 174 + gap, height: 84 };
  const values = { y: weights.y + 100 + gap, cell: 22 };
  const wordsAt = values.y + 3 * values.cell + (isNarrow ? 4 : 14);
  return {
    isNarrow,
    slot,
    left,
    width: left + slot * x.length,
    height: wordsAt + words,
    scores,
    weights,
    values,
    wordsAt,
    yOf: score => scores.y + ((top - score) / (top - bottom)) * scores.height,
  };
}
