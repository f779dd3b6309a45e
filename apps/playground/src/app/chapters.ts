import type { ComponentType } from 'react';
import type { Text } from '../text/text.ts';

/** Names of the chapters; what they are called is in the catalogue. */
export type ChapterId = keyof Text['chapters'];

/** A chapter: its name in the address, and how its page is loaded. */
export interface Chapter {
  readonly id: ChapterId;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** The chapters in reading order. */
export const chapters: readonly Chapter[] = [
  { id: 'machine', load: () => import('../chapters/machine/MachineChapter.tsx') },
  { id: 'softmax', load: () => import('../chapters/softmax/SoftmaxChapter.tsx') },
  { id: 'attention', load: () => import('../chapters/attention/AttentionChapter.tsx') },
  { id: 'loops', load: () => import('../chapters/loops/LoopsChapter.tsx') },
  { id: 'backward', load: () => import('../chapters/backward/BackwardChapter.tsx') },
  { id: 'dropout', load: () => import('../chapters/dropout/DropoutChapter.tsx') },
  { id: 'graph', load: () => import('../chapters/graph/GraphChapter.tsx') },
  { id: 'lab', load: () => import('../chapters/lab/LabChapter.tsx') },
  { id: 'train', load: () => import('../chapters/train/TrainChapter.tsx') },
  { id: 'bench', load: () => import('../chapters/bench/BenchChapter.tsx') },
];
