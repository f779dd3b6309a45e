import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../app/chapters.ts';
import { openSite, type Site } from '../site.ts';
import { phoneTime, referenceTime, type StartCost, startCost } from './start-cost.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());

type Page = Site['page'];

/** Opens a place in its own browser context, with an empty cache. */
async function fresh<T>(visit: (page: Page, go: (place: string) => Promise<void>) => Promise<T>): Promise<T> {
  const context = await site.browser.newContext({ locale: 'en', serviceWorkers: 'block' });
  const page = await context.newPage();
  try {
    return await visit(page, async place => {
      await page.goto(`${site.address}${place}`);
    });
  } finally {
    await context.close();
  }
}

/** Bytes as a server sends them: text gzipped, fonts and pictures unchanged. */
async function sentBytes(urls: Iterable<string>): Promise<number> {
  const sizes = [...urls].map(async url => {
    const body = new Uint8Array(await (await fetch(url)).arrayBuffer());
    return /\.(woff2|jpg|png)$/.test(url) ? body.length : gzipSync(body).length;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** The addresses that a page has requested so far. */
function listen(page: Page): Set<string> {
  const asked = new Set<string>();
  page.on('request', request => {
    if (request.url().startsWith('http')) asked.add(request.url());
  });
  return asked;
}

describe('the first page', () => {
  it('is interactive from at most 90 KB, and asks nobody else for anything', async () => {
    const bytes = await fresh(async (page, go) => {
      const asked = listen(page);
      // The demonstrations load after the page, so the start does not wait for them.
      await page.route(/Opening-|race-worker|train-worker/, route => route.abort());
      await go('#/');
      await page.getByRole('link', { name: /Multiply two matrices/ }).waitFor();
      expect([...asked].filter(url => !url.startsWith(site.address))).toEqual([]);
      return sentBytes([...asked].filter(url => !/Opening|worker|numbers-|training-run-|woff2/.test(url)));
    });
    expect(bytes).toBeGreaterThan(40_000);
    expect(bytes).toBeLessThan(90_000);
  }, 60_000);
});

describe.each(chapters)('the chapter $id', ({ id }) => {
  it('moves little while it loads and is used', async () => {
    const shift = await fresh(async (page, go) => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.addInitScript(`window.shifted = 0;
        new PerformanceObserver(list => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });`);
      await go(`#/${id}`);
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      await page.waitForLoadState('networkidle');
      return page.evaluate('window.shifted') as Promise<number>;
    });
    expect(shift).toBeLessThan(0.1);
  }, 60_000);

  it.each([1280, 390])(
    'fits a window of %i pixels with text of twice the size',
    async width => {
      const overflow = await fresh(async (page, go) => {
        await page.setViewportSize({ width, height: 900 });
        await page.addInitScript("document.documentElement.style.fontSize = '200%';");
        await go(`#/${id}`);
        await page.getByRole('heading', { level: 2 }).first().waitFor();
        return page.evaluate('document.documentElement.scrollWidth - window.innerWidth') as Promise<number>;
      });
      expect(overflow).toBeLessThanOrEqual(0);
    },
    60_000,
  );
});

/**
 * The bytes of a start, and its time on a slow phone, from the shortest of three starts, because other work
 * on the machine can only lengthen them. The visitor's first actions do not wait for the editor proper, the
 * demonstrations, or workers.
 */
async function phoneStart(
  place: string,
  ready: string,
): Promise<{ readonly bytes: number; readonly ms: number }> {
  const later = /CodeEditor|Opening|worker|training-run/;
  const costs: StartCost[] = [];
  const references: number[] = [];
  for (let n = 0; n < 3; n++) {
    references.push(await referenceTime(site));
    costs.push(await startCost(site, { place, ready, later }));
  }
  costs.sort((a, b) => a.cpuMs - b.cpuMs);
  const [least] = costs;
  if (!least) throw new Error('Nothing was measured.');
  const { bytes, rounds, cpuMs } = least;
  const referenceMs = Math.min(...references);
  const ms = phoneTime(least, referenceMs);
  process.stdout.write(
    `${place}: ${(bytes / 1000).toFixed(1)} KB in ${rounds} rounds, ${cpuMs.toFixed(0)} ms of the processor, where the reference page takes ${referenceMs.toFixed(0)} ms: ${ms.toFixed(0)} ms\n`,
  );
  return { bytes, ms };
}

/** Holds when the text is there, each formula is typeset, and the fonts of both are loaded. */
const chapterShown = `document.querySelector('main h2')
  && !document.querySelector(':is(.formula, .formula-block):not(:has(.katex))')
  && document.fonts.status === 'loaded'`;

describe('on a slow phone', () => {
  it('the contents are interactive within 1.5 s', async () => {
    const { ms } = await phoneStart('#/', "document.querySelector('.contents a')");
    expect(ms).toBeLessThan(1500);
  }, 120_000);

  it.each(chapters)(
    'the chapter $id is there from at most 320 KB with fonts, within 3 s',
    async ({ id }) => {
      const { bytes, ms } = await phoneStart(`#/${id}`, chapterShown);
      expect(bytes).toBeLessThan(320_000);
      expect(ms).toBeLessThan(3000);
    },
    120_000,
  );
});

describe('without a network', () => {
  it('shows chapters that have never been open, after the first visit', async () => {
    const context = await site.browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    await page.addInitScript(
      "navigator.serviceWorker?.addEventListener('message', ({ data }) => { window.kept = data; });",
    );
    await page.goto(`${site.address}#/`);
    await page.evaluate('navigator.serviceWorker.startMessages()');
    await page.waitForFunction("window.kept === 'kept'", undefined, { timeout: 60_000 });
    await context.setOffline(true);
    await page.goto('about:blank');
    await page.goto(`${site.address}#/loops`);
    await page.getByRole('heading', { name: 'Two orders, side by side' }).waitFor();
    await page.getByRole('textbox', { name: /^Program/ }).waitFor();
    await context.close();
  }, 90_000);
});

describe('without JavaScript', () => {
  it('says what the page is, and what each chapter is for those who unfold links', async () => {
    const context = await site.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(site.address);
    const read = (await page.locator('noscript').textContent()) ?? '';
    expect(read).toContain('Flash attention, taken apart');
    expect(read).toContain('Multiply two matrices with three registers');
    await context.close();
    for (const { id } of chapters) {
      const html = await (await fetch(`${site.address}share/${id}/index.html`)).text();
      expect(html).toContain(`og/${id}.jpg`);
      expect(html).toContain(`url=../../#/${id}`);
      expect((await fetch(`${site.address}og/${id}.jpg`)).headers.get('content-type')).toBe('image/jpeg');
    }
  }, 60_000);
});
