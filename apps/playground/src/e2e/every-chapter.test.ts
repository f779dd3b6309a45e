import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../app/chapters.ts';
import { de } from '../text/de/index.ts';
import { en } from '../text/en/index.ts';
import { brokenRules } from './accessibility.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const wide = { width: 1280, height: 900 };
const narrow = { width: 390, height: 844 };
/** A window of 1280 pixels at 400 %. */
const zoomed = { width: 320, height: 256 };

const heading = (name: string): Promise<void> =>
  site.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** By how many pixels the content is wider than the window. */
const overflow = (): Promise<number> =>
  site.page.evaluate('document.documentElement.scrollWidth - window.innerWidth') as Promise<number>;

/** Opens everything that a click reveals, too. */
const openDetails = (): Promise<unknown> =>
  site.page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true;");

describe.each(chapters)('the chapter $id', ({ id }) => {
  it('is accessible and complete in light and dark, wide and narrow, English and German, and logs no errors', async () => {
    const { page } = site;
    site.errors.length = 0;
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize(wide);
    await site.visit(`#/${id}`);
    await heading(en.chapters[id].title);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(await brokenRules(page)).toEqual([]);

    await openDetails();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await brokenRules(page)).toEqual([]);

    await page.setViewportSize(narrow);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.setViewportSize(zoomed);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.setViewportSize(narrow);

    await page.getByLabel(en.site.language).selectOption('de');
    await page.locator('html[lang=de]').waitFor({ state: 'attached' });
    await heading(de.chapters[id].title);
    await page.locator('main .loading').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await openDetails();
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(await brokenRules(page)).toEqual([]);
    expect(site.errors).toEqual([]);
  });
});

describe('the first page', () => {
  it('shows memory that grows and a model that learns, is accessible, and leads to the chapters', async () => {
    const { page } = site;
    site.errors.length = 0;
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
    await page.setViewportSize(wide);
    await site.visit('?lang=en#/');
    await page.getByText(/For n = 4,096 this page has just allocated 128 MiB/).waitFor();
    await page.getByText(/Step [1-9]\d* · Right \d+%/).waitFor();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await brokenRules(page)).toEqual([]);
    await page.setViewportSize(narrow);
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(site.errors).toEqual([]);
    await page.getByRole('link', { name: /^Learn Ten chapters/ }).click();
    await heading(en.chapters.overview.title);
  });
});

describe('the page', () => {
  it('loads less than 300 KB of gzipped JavaScript until its first chapter is shown', async () => {
    const { page } = site;
    const asked = new Set<string>();
    const note = (request: { url(): string }): void => {
      if (request.url().endsWith('.js')) asked.add(request.url());
    };
    // The previous page may still request files.
    await page.goto('about:blank');
    page.on('request', note);
    await site.visit('?lang=en#/machine');
    await page.locator('.cm-content').waitFor();
    await page.waitForLoadState('networkidle');
    page.off('request', note);
    // Cached files count, too: a first visitor has to load them.
    const sizes = [...asked].map(async url => gzipSync(await (await fetch(url)).arrayBuffer()).length);
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(300_000);
  });

  it('is served from a sub-path, and its links stay there', async () => {
    await site.visit('');
    await site.page.getByRole('link', { name: en.chapters.softmax.title }).first().click();
    await heading(en.chapters.softmax.title);
    expect(site.page.url()).toMatch(/\/some\/path\/#\/softmax$/);
  });

  it('says at an unknown address that there is no such page, and shows the first page', async () => {
    site.errors.length = 0;
    // Every object of JavaScript has a property with the second name.
    for (const name of ['sofmax', 'constructor']) {
      await site.visit(`?lang=en#/${name}`);
      await site.page.getByText(en.site.noSuchPage(name)).waitFor();
      await heading(en.home.heading);
    }
    expect(site.errors).toEqual([]);
    await site.visit('?lang=en');
    await heading(en.home.heading);
    expect(await site.page.getByText('There is no page').count()).toBe(0);
  });

  it('Back leads to where the visitor left a chapter, and Next to the top of another', async () => {
    const { page } = site;
    const top = (): Promise<unknown> => page.evaluate('Math.round(scrollY)');
    await page.setViewportSize(wide);
    await site.visit('?lang=en#/machine');
    const next = page.getByRole('link', { name: /^Next/ });
    await next.scrollIntoViewIfNeeded();
    await page.locator('.cm-content').waitFor();
    const left = await top();
    expect(left).toBeGreaterThan(300);
    await next.click();
    await heading(en.chapters.softmax.title);
    await expect.poll(top).toBe(0);
    await page.goBack();
    await heading(en.chapters.machine.title);
    await expect.poll(top).toBe(left);
  });

  it('a link to a section leads to it, although figures above it load later', async () => {
    const { page } = site;
    // A low window, in which the section can be at the top.
    await page.setViewportSize({ width: 1280, height: 400 });
    await site.visit('?lang=en#/graph?section=run-title');
    await page.locator('.graph-operation').first().waitFor();
    const title = page.locator('#run-title');
    await expect.poll(async () => (await title.boundingBox())?.y).toBeLessThan(160);
  });

  it('speaks the visitor’s language, computes without WebGPU and says so', async () => {
    const context = await site.browser.newContext({ locale: 'de-AT' });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', error => errors.push(error.message));
    await page.addInitScript('delete Navigator.prototype.gpu;');
    await page.goto(`${site.address}#/lab`);
    await page.getByRole('heading', { level: 1, name: de.chapters.lab.title }).waitFor();
    await page.getByText(de.engine.runsOn['no-webgpu']({ kind: 'no-webgpu' })).waitFor();
    await page.goto(`${site.address}?lang=en#/lab`);
    await page.getByRole('heading', { level: 1, name: en.chapters.lab.title }).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });

  it('distinguishes a chapter that cannot be fetched from one that stops with an error', async () => {
    const context = await site.browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    await page.route(/LabChapter/, route => route.abort());
    await page.goto(`${site.address}#/lab`);
    await page.getByText(en.site.boundary.failed).waitFor();
    await page.addInitScript(
      "window.Worker = class { constructor() { throw new Error('no workers here'); } };",
    );
    await page.goto('about:blank');
    await page.goto(`${site.address}#/graph`);
    await page.getByText(en.site.boundary.broke).waitFor();
    await page.getByText('no workers here').waitFor();
    await context.close();
  });

  it('leads the keyboard to the library by its door', async () => {
    const { page } = site;
    await page.setViewportSize(wide);
    await site.visit('?lang=en');
    await page.getByRole('button', { name: 'Use it' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('use');
    const top = await page.evaluate('document.activeElement.getBoundingClientRect().top');
    expect(top).toBeLessThan(400);
  });

  it('offers the other theme after the system has changed its theme', async () => {
    const { page } = site;
    await page.emulateMedia({ colorScheme: 'light' });
    await site.visit('?lang=en');
    await page.getByRole('button', { name: 'Use the dark theme' }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Use the light theme' }).click();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('light');
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('is printed on white paper, without the header', async () => {
    const { page } = site;
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await site.visit('?lang=en#/attention');
    await heading(en.chapters.attention.title);
    expect(await page.locator('.site-head').isVisible()).toBe(false);
    const scheme = await page.evaluate('getComputedStyle(document.documentElement).colorScheme');
    expect(scheme).toBe('light');
    await page.emulateMedia({ media: null, colorScheme: 'light' });
  });

  it('can be read and operated with the keyboard alone', async () => {
    const { page } = site;
    await page.setViewportSize(wide);
    await site.visit('?lang=en#/machine');
    await page.getByText(en.bench.instructionSet).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    // Skips the button that copies the chapter's link.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'Rd = DRAM[src]' }).waitFor();
    // The editor shows its focus like every other control.
    await page.locator('.cm-content').focus();
    const outline = page.locator('.editor').evaluate(one => getComputedStyle(one).outlineWidth);
    expect(await outline).toBe('2px');
    // A chapter that follows begins at its content, not at the header.
    await page.getByRole('link', { name: /^Next/ }).focus();
    await page.keyboard.press('Enter');
    await heading(en.chapters.softmax.title);
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });
});
