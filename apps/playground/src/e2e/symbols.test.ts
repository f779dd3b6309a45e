import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSite, pageTimeout, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
  await site.page.setViewportSize({ width: 1440, height: 900 });
});
afterAll(() => site?.close());

describe('a symbol that is pointed at', () => {
  const lit = (): Promise<string[]> =>
    site.page.evaluate(
      "[...document.querySelectorAll('[data-symbol-lit]')].map(element => (element.closest('.katex') ? 'formula' : element.localName) + ' ' + element.dataset.symbol)",
    ) as Promise<string[]>;

  /** Points at an element until the place is lit, because content that loads late moves the element away. */
  const litBy = (element: ReturnType<Site['page']['locator']>, place: string): Promise<string[]> =>
    vi.waitFor(async () => {
      await element.hover();
      const places = await lit();
      expect(places).toContain(place);
      return places;
    }, pageTimeout);

  it('is lit in formulas, in the text and in the figure, which stays beside the text', async () => {
    const { page } = site;
    await site.visit('?lang=en#/backward?step=9');
    const last = page.locator('.derivation li').last();
    await last.scrollIntoViewIfNeeded();
    const places = await litBy(last.locator('.katex-html [data-symbol=dS]').first(), 'table dS');
    expect(places).toContain('formula dS');
    expect(places.some(place => !place.endsWith('dS') && !place.includes('dS '))).toBe(false);
    const table = await page.locator('table.matrix[data-symbol=dS]').boundingBox();
    expect(table?.y).toBeGreaterThan(50);
    expect(table?.y).toBeLessThan(900);

    expect(await litBy(page.locator('table.matrix[data-symbol=P] button').first(), 'table P')).not.toContain(
      'table dS',
    );
    await page.mouse.move(2, 300);
    await vi.waitFor(async () => expect(await lit()).toEqual([]), pageTimeout);
  });

  it.each([
    ['lab', 'S', 'figure S'],
    ['dropout', 'M', 'figure M'],
  ])('is lit in the figures of the chapter %s', async (chapter, symbol, place) => {
    await site.visit(`?lang=en#/${chapter}`);
    await site.page.locator(`figure[data-symbol=${symbol}]`).first().waitFor();
    const letter = site.page.locator(`.formula-block .katex-html [data-symbol=${symbol}]`).first();
    expect(await litBy(letter, place)).toContain(`formula ${symbol}`);
  });

  it('does not change if no figure shows it', async () => {
    await site.visit('?lang=en#/softmax');
    await site.page.locator('.formula-block .katex-html .mord').first().hover();
    expect(await lit()).toEqual([]);
  });
});
