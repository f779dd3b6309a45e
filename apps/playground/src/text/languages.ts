import { firstEn } from './en/first.ts';
import type { ChapterTexts, FirstText, Text } from './text.ts';

type ChapterLoaders = { readonly [N in keyof ChapterTexts]: () => Promise<ChapterTexts[N]> };

/**
 * The languages of the page, and functions that load their texts. The English text of the first page is part
 * of the page's own script.
 */
export const languages = {
  en: {
    name: 'English',
    first: async (): Promise<FirstText> => firstEn,
    load: async (): Promise<Text> => (await import('./en/index.ts')).en,
    chapters: {
      backward: async () => (await import('./en/learn/backward.ts')).backward,
      doctor: async () => (await import('./en/evaluate/doctor.ts')).doctor,
      dropout: async () => (await import('./en/learn/dropout.ts')).dropout,
      graph: async () => (await import('./en/evaluate/graph.ts')).graph,
      kernels: async () => (await import('./en/learn/kernels.ts')).kernels,
      train: async () => (await import('./en/learn/train.ts')).train,
    } satisfies ChapterLoaders as ChapterLoaders,
  },
  de: {
    name: 'Deutsch',
    first: async (): Promise<FirstText> => (await import('./de/first.ts')).firstDe,
    load: async (): Promise<Text> => (await import('./de/index.ts')).de,
    chapters: {
      backward: async () => (await import('./de/learn/backward.ts')).backward,
      doctor: async () => (await import('./de/evaluate/doctor.ts')).doctor,
      dropout: async () => (await import('./de/learn/dropout.ts')).dropout,
      graph: async () => (await import('./de/evaluate/graph.ts')).graph,
      kernels: async () => (await import('./de/learn/kernels.ts')).kernels,
      train: async () => (await import('./de/learn/train.ts')).train,
    } satisfies ChapterLoaders as ChapterLoaders,
  },
} as const;

export type Language = keyof typeof languages;

const isLanguage = (code: string): code is Language => Object.hasOwn(languages, code);

/**
 * The language to begin with: that of the address (`?lang=de`), else the one that the visitor chose before,
 * else the first of the browser's languages that the page has, else English.
 */
export function initialLanguage(from: {
  readonly search: string;
  readonly stored: string | null;
  readonly preferred: readonly string[];
}): Language {
  const { search, stored, preferred } = from;
  const wishes = [new URLSearchParams(search).get('lang'), stored, ...preferred];
  for (const wish of wishes) {
    const code = wish?.toLowerCase().split('-')[0] ?? '';
    if (isLanguage(code)) return code;
  }
  return 'en';
}
