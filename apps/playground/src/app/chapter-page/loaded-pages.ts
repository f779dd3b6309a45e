import type { ComponentType } from 'react';
import type { Language } from '../../text/languages.ts';
import { loadChapterText } from '../../text/useChapterText.ts';
import type { Chapter } from '../chapters.ts';

const pages = new Map<string, ComponentType>();

/** The page of a chapter if it has been loaded, else null. */
export const loadedPage = ({ id }: Chapter): ComponentType | null => pages.get(id) ?? null;

/** Loads a chapter's page and the text that only this chapter uses. */
export async function loadPage(chapter: Chapter, language: Language): Promise<ComponentType> {
  const [{ default: page }] = await Promise.all([chapter.load(), loadChapterText(language, chapter.id)]);
  pages.set(chapter.id, page);
  return page;
}
