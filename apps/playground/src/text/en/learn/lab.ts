import type { LabMaskId } from '../../../logic/lab/lab-masks.ts';

/** The name of a mask, what it does, and the name of its number if it takes one. */
interface MaskText {
  readonly title: string;
  readonly about: string;
  readonly value?: string;
}

export const lab = {
  intro: (S: number): string =>
    `One head, ${S} queries (downwards) and ${S} keys (to the right). Grey pairs are hidden: they get no weight and no gradient. Point at a pair, or walk with the arrow keys, and read its numbers.`,
  mask: 'Mask',
  scores: 'Scores',
  probabilities: 'Probabilities P',
  gradients: 'Gradients of the scores',
  hidden: 'hidden',
  pair: (i: number, j: number): string => `Query ${i}, key ${j}`,
  mapLabel: (title: string, i: number, j: number, value: string): string =>
    `${title}: query ${i}, key ${j}: ${value}. Arrow keys choose another pair.`,
  range: (low: string, high: string): string => `${low} to ${high}`,
  seen: (share: string): string => `${share} of all pairs are visible.`,
  masks: {
    none: { title: 'No mask', about: 'Every query sees every key.' },
    causal: {
      title: 'Causal',
      about: 'A query sees the keys up to its own position. Tiles above the diagonal are skipped.',
    },
    window: {
      title: 'Sliding window',
      about: 'A query sees only the nearest keys, so the work grows with the length and not with its square.',
      value: 'Keys to the left',
    },
    alibi: {
      title: 'ALiBi',
      about: 'A penalty grows with the distance between query and key. It replaces position embeddings.',
      value: 'Slope',
    },
    softcap: {
      title: 'Softcap',
      about: 'c·tanh(s/c) bends the scores, so that none of them can dominate.',
      value: 'Cap c',
    },
    document: {
      title: 'Documents',
      about:
        'Several documents in one sequence: no query sees another document. The kernel evaluates the mask mod for every pair up to the diagonal. A block mask would tell the kernel which tiles to skip.',
      value: 'Documents',
    },
    prefix: {
      title: 'Prefix',
      about:
        'Every query sees the first keys. After these, the mask is causal. The mask mod says so pair by pair, so the kernel skips no tile.',
      value: 'Length of the prefix',
    },
    dilated: {
      title: 'Dilated',
      about:
        'A query sees only every second, third or nth key, counted from itself: a few keys reach far. Up to the diagonal, every tile has visible pairs, so the kernel saves no work.',
      value: 'Dilation',
    },
    block: {
      title: 'Block mask',
      about:
        'Tiles of 128 × 128 that no query needs are not computed at all. The mask has one bit for each tile, made from a mask mod (here: a global prefix and the neighbourhood). In the other tiles, the kernel evaluates the mask mod for every pair.',
      value: 'Keys on each side',
    },
    sink: {
      title: 'Sink',
      about:
        'One more logit, without a value vector, takes its share, so the weights of the keys sum to less than one.',
      value: 'Logit of the sink',
    },
  } satisfies Record<LabMaskId, MaskText>,
};
