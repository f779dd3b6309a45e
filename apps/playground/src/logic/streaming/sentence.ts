/** The sentence that the chapters share, word by word. */
export const words = [
  'The',
  'cat',
  'that',
  'chased',
  'the',
  'mouse',
  'slept',
  'because',
  'it',
  'was',
  'very',
  'tired',
] as const;

/**
 * The words as vectors X (12 × 4), made by hand so that their attention makes sense. The components say how
 * much each word is a being, a state or an action, a word that points back, and grammar.
 */
const X: readonly (readonly number[])[] = [
  [0.2, 0, 0.1, 1],
  [1.6, 0.1, 0.2, 0],
  [0.1, 0, 0.9, 0.6],
  [0.2, 1.2, 0, 0.1],
  [0.1, -0.1, 0.1, 1],
  [1.3, 0, 0.1, 0],
  [0.3, 1.7, 0.1, 0.1],
  [0, 0.3, 0.3, 0.9],
  [0.9, 0.4, 1.6, 0.2],
  [0, 1, 0.3, 0.5],
  [0, 0.4, 0, 0.8],
  [0.3, 1.5, 0.2, 0],
];

/** Projections (4 × 3): what a word looks for, how others can find it, and what it gives. */
const projections = {
  q: [
    [0.5, 1.4, 0.2],
    [0.95, 0.95, 1.2],
    [2.2, 0.2, 0],
    [0.6, 0.6, 0],
  ],
  k: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [0, 0, 0],
  ],
  v: [
    [0.45, 0.1, 0.15],
    [0.1, 0.45, 0.1],
    [0.1, 0.1, 0.45],
    [0.2, 0.1, 0.1],
  ],
} as const;

const product = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number[][] =>
  a.map(row => (b[0] ?? []).map((_, c) => row.reduce((sum, x, r) => sum + x * (b[r]?.[c] ?? 0), 0)));

/** The head size: the number of components of q, k and v. */
export const headSize = 3;

/** X, and Q, K and V computed from it (12 × 3). */
export const sentence = {
  X,
  q: product(X, projections.q),
  k: product(X, projections.k),
  v: product(X, projections.v),
} as const;

const dot = (a: readonly number[] = [], b: readonly number[] = []): number =>
  a.reduce((sum, x, c) => sum + x * (b[c] ?? 0), 0);

/** The scores q·k/√d of one word with all words. */
export const scoresOf = (word: number): number[] =>
  sentence.k.map(key => dot(sentence.q[word], key) / Math.sqrt(headSize));
