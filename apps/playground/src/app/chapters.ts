import type { ComponentType } from 'react';

/** A chapter: what the contents say about it, and how its page is loaded. */
export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly blurb: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** The chapters in reading order. */
export const chapters: readonly Chapter[] = [
  {
    id: 'machine',
    title: 'The machine',
    blurb: 'Multiply two matrices with three registers, one instruction at a time.',
    load: () => import('../chapters/machine/MachineChapter.tsx'),
  },
  {
    id: 'softmax',
    title: 'Softmax',
    blurb: 'One more register saves a whole pass over memory.',
    load: () => import('../chapters/softmax/SoftmaxChapter.tsx'),
  },
  {
    id: 'attention',
    title: 'From softmax to attention',
    blurb: 'A running maximum, a denominator, a numerator; the big matrix never exists.',
    load: () => import('../chapters/attention/AttentionChapter.tsx'),
  },
  {
    id: 'loops',
    title: 'Loop orders',
    blurb: 'Which loop is outside decides what travels: FlashAttention-1 against -2.',
    load: () => import('../chapters/loops/LoopsChapter.tsx'),
  },
  {
    id: 'backward',
    title: 'Backward',
    blurb: 'Gradients without the big matrices: one number per row brings everything back.',
    load: () => import('../chapters/backward/BackwardChapter.tsx'),
  },
  {
    id: 'dropout',
    title: 'Dropout',
    blurb: 'Random bits that are computed twice instead of stored once.',
    load: () => import('../chapters/dropout/DropoutChapter.tsx'),
  },
  {
    id: 'lab',
    title: 'Attention lab',
    blurb: 'What masks do to scores, probabilities and gradients.',
    load: () => import('../chapters/lab/LabChapter.tsx'),
  },
];
