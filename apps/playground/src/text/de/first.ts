import type { FirstText } from '../text.ts';
import { chapters } from './chapters.ts';
import { home } from './home.ts';
import { site } from './site.ts';

/** Was die erste Seite sagt, auf Deutsch. */
export const firstDe: FirstText = { site, home, chapters };
