import type { FirstText } from '../text/text.ts';

/** Former chapters that links may still name, and the chapters that now contain them. */
export const movedChapters: ReadonlyMap<string, keyof FirstText['chapters']> = new Map([['bench', 'doctor']]);
