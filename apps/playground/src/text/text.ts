import type { doctor } from './en/evaluate/doctor.ts';
import type { graph } from './en/evaluate/graph.ts';
import type { firstEn } from './en/first.ts';
import type { en } from './en/index.ts';
import type { backward } from './en/learn/backward.ts';
import type { dropout } from './en/learn/dropout.ts';
import type { kernels } from './en/learn/kernels.ts';
import type { train } from './en/learn/train.ts';

/**
 * The whole text of the page, in one language. English is complete by definition; a translation has equal
 * keys.
 */
export type Text = typeof en;

/** The part that the first page needs; the rest comes with the first chapter. */
export type FirstText = typeof firstEn;

/** Texts of single chapters, each loaded with its chapter. */
export interface ChapterTexts {
  readonly backward: typeof backward;
  readonly doctor: typeof doctor;
  readonly kernels: typeof kernels;
  readonly graph: typeof graph;
  readonly train: typeof train;
  readonly dropout: typeof dropout;
}
