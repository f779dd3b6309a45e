import { parsePlace } from '../../state/url-state.ts';
import { languages } from '../../text/languages.ts';
import { startLanguage } from '../../text/TextProvider.tsx';
import type { Text } from '../../text/text.ts';
import { loadFormulas } from '../../ui/formulas/Formula.tsx';
import { chapters } from '../chapters.ts';
import { loadPage } from './loaded-pages.ts';

/** How long the first text may wait for the rest of a chapter, in milliseconds. */
const timeout = 100;

/**
 * Requests everything that the chapter of an address needs at once, instead of one part after the other as
 * they are rendered. Resolves to the text of all chapters once the chapter can be rendered whole, or to null
 * if there is no chapter or if parts of it take longer. If a part cannot be loaded, its user reports the
 * error.
 */
export async function preloadChapter(hash: string): Promise<Text | null> {
  const { chapter: id } = parsePlace(hash);
  const chapter = chapters.find(one => one.id === id);
  if (!chapter) return null;
  const language = startLanguage();
  if (chapter.readers === 'learners') loadFormulas().catch(() => {});
  const whole = Promise.all([languages[language].load(), loadPage(chapter, language)]).then(([text]) => text);
  const late = new Promise<null>(resolve => setTimeout(resolve, timeout, null));
  return Promise.race([whole, late]).catch(() => null);
}
