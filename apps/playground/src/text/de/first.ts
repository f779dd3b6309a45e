import type { FirstText } from '../text.ts';
import { chapters } from './page/chapters.ts';
import { home } from './page/home.ts';
import { site } from './page/site.ts';

/** Was die erste Seite sagt, auf Deutsch. */
export const firstDe: FirstText = { site, home, chapters };
