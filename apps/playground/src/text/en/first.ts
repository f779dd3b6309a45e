import { chapters } from './chapters.ts';
import { home } from './home.ts';
import { site } from './site.ts';

/** The text of the first page, in English. */
export const firstEn = { site, home, chapters };
