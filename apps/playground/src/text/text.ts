import type { firstEn } from './en/first.ts';
import type { en } from './en/index.ts';

/**
 * The whole text of the page, in one language. English is complete by definition; a translation has equal
 * keys.
 */
export type Text = typeof en;

/** The part that the first page needs; the rest comes with the first chapter. */
export type FirstText = typeof firstEn;
