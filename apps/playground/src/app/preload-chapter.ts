import { parsePlace } from '../state/url-state.ts';
import { startText } from '../text/TextProvider.tsx';
import { loadKatex } from '../ui/prose/Formula.tsx';
import { chapters } from './chapters.ts';

/**
 * Asks for all that the chapter of an address needs at once: its page and the text of all chapters, instead
 * of one after the other as they are rendered. Whoever uses them meets failures.
 */
export function preloadChapter(hash: string): void {
  const { chapter: id } = parsePlace(hash);
  const chapter = chapters.find(one => one.id === id);
  if (!chapter) return;
  chapter.load().catch(() => {});
  startText().catch(() => {});
  if (chapter.readers === 'learners') loadKatex().catch(() => {});
}
