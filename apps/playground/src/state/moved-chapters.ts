import type { FirstText } from '../text/text.ts';

/** Chapters that links may still name, and the chapters that they are part of now. */
export const movedChapters: Readonly<Record<string, keyof FirstText['chapters']>> = { bench: 'doctor' };
