import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chapters } from '../app/chapters.ts';
import { type Language, languages } from '../text/languages.ts';
import { openSite } from './site.ts';

/** The sizes, themes and languages of the pictures of a chapter. */
const looks = [
  { name: 'light', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'dark', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'narrow', colorScheme: 'light', width: 390, height: 844 },
  { name: 'narrow-dark', colorScheme: 'dark', width: 390, height: 844 },
] as const;

/** Limits the pictures to some chapters, looks or languages: `ONLY=softmax,dark,de`. */
const only = process.env.ONLY?.split(',') ?? [];
const chosen = <T extends string>(names: readonly T[]): readonly T[] => {
  const some = names.filter(name => only.includes(name));
  return some.length > 0 ? some : names;
};

/**
 * Takes a picture of every chapter in both themes, wide and narrow, in every language, into `screenshots/`.
 */
async function takeScreenshots(): Promise<void> {
  const folder = fileURLToPath(new URL('../../screenshots/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const site = await openSite();
  const { page } = site;
  const wanted = chosen(looks.map(({ name }) => name));
  for (const language of chosen(Object.keys(languages) as Language[])) {
    for (const { name, colorScheme, width, height } of looks.filter(look => wanted.includes(look.name))) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height });
      for (const id of chosen(['contents', ...chapters.map(chapter => chapter.id)])) {
        await site.visit(`?lang=${language}#/${id === 'contents' ? '' : id}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        // Figures load when they are near the window.
        await page.evaluate(
          `(async () => {
            for (let y = 0; y < document.body.scrollHeight; y += 600) {
              window.scrollTo(0, y);
              await new Promise(done => setTimeout(done, 120));
            }
            window.scrollTo(0, 0);
          })()`,
        );
        await page.waitForLoadState('networkidle');
        await page.locator('[aria-busy=true]').waitFor({ state: 'detached', timeout: 60_000 });
        // A picture of a whole page resizes the window, which can load the fonts again: formulas would be
        // invisible. So the window is resized before the fonts are awaited.
        const whole = Number(await page.evaluate('document.documentElement.scrollHeight'));
        await page.setViewportSize({ width, height: whole });
        await page.evaluate('document.fonts.ready');
        await page.screenshot({ path: `${folder}${id}-${name}-${language}.png` });
        await page.setViewportSize({ width, height });
      }
    }
  }
  if (site.errors.length > 0) throw new Error(`The page wrote errors: ${site.errors.join('; ')}`);
  await site.close();
}

await takeScreenshots();
