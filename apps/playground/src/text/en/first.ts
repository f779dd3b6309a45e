import { chapters } from './page/chapters.ts';
import { home } from './page/home.ts';
import { site } from './page/site.ts';

/** The text of the first page, in English. */
export const firstEn = { site, home, chapters };
