import { chapters } from './chapters.ts';
import { home } from './home.ts';
import { site } from './site.ts';

/** What the first page says, in English. */
export const firstEn = { site, home, chapters };
