import type { ComponentType } from 'react';
import type { Language } from '../../text/languages.ts';
import { loadChapterText } from '../../text/useChapterText.ts';
import type { Chapter } from '../chapters.ts';

const pages = new Map<string, ComponentType>();

/** The page of a chapter that has been loaded, or null. */
export const loadedPage = ({ id }: Chapter): ComponentType | null => pages.get(id) ?? null;

/** Loads the page of a chapter, and the text that this chapter alone has. */
export async function loadPage(chapter: Chapter, language: Language): Promise<ComponentType> {
  const [{ default: page }] = await Promise.all([chapter.load(), loadChapterText(language, chapter.id)]);
  pages.set(chapter.id, page);
  return page;
}
