import type { ComponentType } from 'react';
import type { FirstText } from '../text/text.ts';
import { evaluators } from './evaluators.ts';

/** The ids of the chapters; their titles are in the catalogue. */
export type ChapterId = keyof FirstText['chapters'];

/** A chapter: its name in the address, its readers, and the loader of its page. */
export interface Chapter {
  readonly id: ChapterId;
  /** Learners read from number 0 on; evaluators look up what they need. */
  readonly readers: 'learners' | 'evaluators';
  /** The tasks of the chapter, by the names that mark them as done. */
  readonly tasks: readonly string[];
  /** The documentation page on the chapter's subject. */
  readonly docs: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

const rows: readonly Omit<Chapter, 'readers'>[] = [
  {
    id: 'overview',
    tasks: ['quiz.square-memory', 'quiz.square-root'],
    docs: 'why',
    load: () => import('../chapters/overview/OverviewChapter.tsx'),
  },
  {
    id: 'machine',
    tasks: ['one-element', 'inner-product', 'outer-product', 'quiz.three-registers', 'quiz.inner-six'],
    docs: 'internals/kernels',
    load: () => import('../chapters/machine/MachineChapter.tsx'),
  },
  {
    id: 'softmax',
    tasks: ['safe-softmax', 'online-softmax', 'quiz.safe-factor', 'quiz.running-tricks', 'quiz.welford'],
    docs: 'internals/kernels',
    load: () => import('../chapters/softmax/SoftmaxChapter.tsx'),
  },
  {
    id: 'attention',
    tasks: ['stream', 'merge', 'quiz.numerator-rule', 'quiz.one-pass'],
    docs: 'internals/kernels',
    load: () => import('../chapters/attention/AttentionChapter.tsx'),
  },
  {
    id: 'loops',
    tasks: [
      'queries-outside',
      'keys-outside',
      'two-queries',
      'quiz.intensity-orders',
      'quiz.intensity-flash',
    ],
    docs: 'guide/webgpu/tiles',
    load: () => import('../chapters/loops/LoopsChapter.tsx'),
  },
  {
    id: 'backward',
    tasks: [
      'backward-row',
      'backward-column',
      'quiz.ingredient',
      'quiz.why-gradients',
      'quiz.projection-cost',
      'quiz.walk-score',
      'quiz.known-d',
    ],
    docs: 'internals/kernels',
    load: () => import('../chapters/backward/BackwardChapter.tsx'),
  },
  {
    id: 'kernels',
    tasks: [
      'kernel.naive',
      'kernel.row-softmax',
      'kernel.streaming-softmax',
      'kernel.tiled-forward',
      'kernel.causal-skip',
      'kernel.delta',
      'kernel.dq',
      'kernel.dkv',
    ],
    docs: 'internals/kernels',
    load: () => import('../chapters/kernels/KernelsChapter.tsx'),
  },
  {
    id: 'lab',
    tasks: [],
    docs: 'guide/attention/conventions',
    load: () => import('../chapters/lab/LabChapter.tsx'),
  },
  {
    id: 'dropout',
    tasks: [],
    docs: 'guide/attention/reproducibility',
    load: () => import('../chapters/dropout/DropoutChapter.tsx'),
  },
  {
    id: 'train',
    tasks: [],
    docs: 'start/training',
    load: () => import('../chapters/train/TrainChapter.tsx'),
  },
  {
    id: 'graph',
    tasks: [],
    docs: 'guide/graphs/running',
    load: () => import('../chapters/graph/GraphChapter.tsx'),
  },
  {
    id: 'doctor',
    tasks: [],
    docs: 'performance',
    load: () => import('../chapters/doctor/DoctorChapter.tsx'),
  },
];

/** The chapters in reading order. People have shared links with these names, so the names must not change. */
export const chapters: readonly Chapter[] = rows.map(row => ({
  ...row,
  readers: evaluators.includes(row.id) ? 'evaluators' : 'learners',
}));

/** The number of a chapter, from 0; chapters for evaluators have none. */
export function chapterNumber(id: string): number | null {
  const at = chapters.findIndex(chapter => chapter.id === id);
  return chapters[at]?.readers === 'learners' ? at : null;
}
