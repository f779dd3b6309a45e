import type { doctor } from './en/evaluate/doctor.ts';
import type { firstEn } from './en/first.ts';
import type { en } from './en/index.ts';
import type { backward } from './en/learn/backward.ts';
import type { kernels } from './en/learn/kernels.ts';

/**
 * The whole text of the page, in one language. English is complete by definition; a translation has equal
 * keys.
 */
export type Text = typeof en;

/** The part that the first page needs; the rest comes with the first chapter. */
export type FirstText = typeof firstEn;

/** Long texts of single chapters, each loaded with its chapter. */
export interface ChapterTexts {
  readonly backward: typeof backward;
  readonly doctor: typeof doctor;
  readonly kernels: typeof kernels;
}
