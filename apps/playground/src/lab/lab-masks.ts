import { type SdpaOptions, Tensor } from '@tilewise/core';
import { documentMask, prefixLmMask } from '@tilewise/core/expr';

/** A way to restrict or bend attention, as options of the library. */
export interface LabMask {
  readonly id: string;
  readonly title: string;
  /** The options as one would write them. */
  readonly code: string;
  readonly about: string;
  readonly options: (S: number) => SdpaOptions;
}

/** Three documents, one after the other, in a sequence of S tokens. */
function documentIds(S: number): Tensor {
  const ids = Array.from({ length: S }, (_, s) => (s < 0.3 * S ? 0 : s < 0.7 * S ? 1 : 2));
  return Tensor.from(ids, [S], { dtype: 'i32' });
}

export const labMasks: readonly LabMask[] = [
  {
    id: 'none',
    title: 'No mask',
    code: '{}',
    about: 'Every query sees every key.',
    options: () => ({}),
  },
  {
    id: 'causal',
    title: 'Causal',
    code: '{ causal: true }',
    about: 'A query sees the keys up to its own position. Tiles above the diagonal are skipped.',
    options: () => ({ causal: true }),
  },
  {
    id: 'window',
    title: 'Sliding window',
    code: '{ causal: true, window: { left: 5 } }',
    about: 'Only the nearest keys: work grows with the length, not with its square.',
    options: () => ({ causal: true, window: { left: 5 } }),
  },
  {
    id: 'alibi',
    title: 'ALiBi',
    code: '{ causal: true, alibi: [0.25] }',
    about: 'A penalty that grows with the distance stands in for positions.',
    options: () => ({ causal: true, alibi: [0.25] }),
  },
  {
    id: 'softcap',
    title: 'Softcap',
    code: '{ softcap: 1.5 }',
    about: 'Scores are bent by c·tanh(s/c), so that none can dominate.',
    options: () => ({ softcap: 1.5 }),
  },
  {
    id: 'document',
    title: 'Documents',
    code: '{ causal: true, maskMod: documentMask(ids) }',
    about: 'Three documents in one sequence: no query sees another document.',
    options: S => ({ causal: true, maskMod: documentMask(documentIds(S)) }),
  },
  {
    id: 'prefix',
    title: 'Prefix',
    code: '{ maskMod: prefixLmMask(8) }',
    about: 'The first eight keys are seen by all; after them it is causal.',
    options: () => ({ maskMod: prefixLmMask(8) }),
  },
  {
    id: 'sink',
    title: 'Sink',
    code: '{ causal: true, sink: [1] }',
    about: 'One more logit without a value: weights may sum to less than one.',
    options: () => ({ causal: true, sink: [1] }),
  },
];
