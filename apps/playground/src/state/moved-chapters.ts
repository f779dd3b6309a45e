import type { FirstText } from '../text/text.ts';

/** Former chapters that links may still name, and the chapters that now contain them. */
export const movedChapters: Readonly<Record<string, keyof FirstText['chapters']>> = { bench: 'doctor' };
