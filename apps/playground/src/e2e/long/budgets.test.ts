import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../app/chapters.ts';
import { openSite, type Site } from '../site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());

type Page = Site['page'];

/** Opens a place in a context of its own, with an empty cache. */
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

/** Bytes as a server sends them: texts gzipped, fonts and pictures as they are. */
async function sentBytes(urls: Iterable<string>): Promise<number> {
  const sizes = [...urls].map(async url => {
    const body = new Uint8Array(await (await fetch(url)).arrayBuffer());
    return /\.(woff2|jpg|png)$/.test(url) ? body.length : gzipSync(body).length;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** The addresses that a page has asked for so far. */
function listen(page: Page): Set<string> {
  const asked = new Set<string>();
  page.on('request', request => {
    if (request.url().startsWith('http')) asked.add(request.url());
  });
  return asked;
}

/** A slow phone: a quarter of the processor, 1.6 Mbit/s, 150 ms to the server. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 100_000,
  });
}

describe('the first page', () => {
  it('is interactive from at most 90 KB, and asks nobody else for anything', async () => {
    const bytes = await fresh(async (page, go) => {
      const asked = listen(page);
      // The demonstrations come after it: what they take is not waited for.
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

  it('reads and works with text of twice the size', async () => {
    const overflow = await fresh(async (page, go) => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.addInitScript("document.documentElement.style.fontSize = '200%';");
      await go(`#/${id}`);
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      return page.evaluate('document.documentElement.scrollWidth - window.innerWidth') as Promise<number>;
    });
    expect(overflow).toBeLessThanOrEqual(0);
  }, 60_000);
});

// With what is on the screen at once; workers and kernels are loaded for what the visitor asks to be
// computed.
const light = chapters.filter(({ id }) => !['lab', 'dropout', 'train', 'graph', 'doctor'].includes(id));
describe.each(light)('the chapter $id, on a slow phone', ({ id }) => {
  it('is there from at most 350 KB with fonts', async () => {
    const { bytes, ms } = await fresh(async (page, go) => {
      const asked = listen(page);
      await slowDown(page);
      const start = performance.now();
      await go(`#/${id}`);
      await page.locator('.katex').first().waitFor();
      const took = performance.now() - start;
      await page.evaluate('document.fonts.ready');
      // The editor proper takes the place of a plain field when the rest is there.
      const until = [...asked].filter(url => !url.includes('CodeEditor'));
      if (id !== 'overview') await page.getByRole('textbox', { name: /^(Program|Kernel)/ }).waitFor();
      return { bytes: await sentBytes(until), ms: took };
    });
    process.stdout.write(`${id}: ${Math.round(bytes / 1000)} KB, ${Math.round(ms)} ms\n`);
    expect(bytes).toBeLessThan(350_000);
    // On a machine that does nothing else it is within three seconds; others may be testing beside this.
    expect(ms).toBeLessThan(10_000);
  }, 60_000);
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
