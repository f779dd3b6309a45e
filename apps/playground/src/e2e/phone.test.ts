import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matrixProblems } from '../logic/machine/matrix/matrix-problems.ts';
import { softmaxProblems } from '../logic/machine/softmax/softmax-problems.ts';
import { placeHash } from '../state/url-state.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const phone = { width: 390, height: 844 };

/** The position of an element in the window. */
const boxOf = async (selector: string): Promise<{ x: number; y: number; width: number; height: number }> => {
  const box = await site.page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`There is no ${selector}.`);
  return box;
};

describe('on a phone', () => {
  beforeAll(() => site.page.setViewportSize(phone));

  it('formulas that go on beyond the edge fade there, and scroll', async () => {
    await site.visit('?lang=en#/backward?step=4');
    await site.page.locator('.derivation details').last().waitFor();
    // The lines in index notation are the long ones.
    await site.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true;");
    await site.page.locator('.formula-block[data-more] .katex').first().waitFor();
    const cut = await site.page.evaluate(`[...document.querySelectorAll('.formula-block')]
      .filter(one => one.offsetParent && one.scrollWidth > one.clientWidth + 1)
      .map(one => ({ cue: getComputedStyle(one).maskImage !== 'none', focus: one.tabIndex }))`);
    expect((cut as unknown[]).length).toBeGreaterThan(0);
    for (const one of cut as unknown[]) expect(one).toEqual({ cue: true, focus: 0 });
  });

  it.each(['softmax', 'attention', 'kernels', 'lab', 'dropout'])(
    'all equations of the chapter %s are in sight',
    async chapter => {
      await site.visit(`?lang=en#/${chapter}`);
      await site.page.locator('.formula-block .katex').first().waitFor();
      const beyond = await site.page
        .locator('.formula-block')
        .evaluateAll(all => all.map(one => one.scrollWidth - one.clientWidth));
      expect(Math.max(...beyond)).toBeLessThanOrEqual(0);
    },
  );

  it('the key that is streamed is in sight at every step', async () => {
    await site.visit('?lang=en#/attention');
    await site.page.getByRole('button', { name: 'To the end' }).first().click();
    await site.page.waitForFunction(`{
      const { left, right } = document.querySelector('.stream .current').getBoundingClientRect();
      left >= 0 && right <= innerWidth }`);
  });

  it.each([
    'overview',
    // The numbers with the most digits.
    'softmax?factor=quotient&shift=80',
    'attention?at=9',
    'loops',
    'backward',
    'dropout',
  ])('every column of every figure and table of %s is in sight', async place => {
    await site.visit(`?lang=de#/${place}`);
    await site.page.locator('main :is(table, svg.stream):visible').first().waitFor();
    await site.page.waitForLoadState('networkidle');
    const beyond = await site.page
      .locator('.scroll-x:has(table, svg):not(.trace), .stream')
      .evaluateAll(all => all.map(one => one.scrollWidth - one.clientWidth));
    expect(beyond.length).toBeGreaterThan(0);
    expect(Math.max(...beyond)).toBeLessThanOrEqual(0);
  });

  it('the words of the stream do not overlap', async () => {
    await site.visit('?lang=en#/attention');
    const words = await site.page
      .locator('.stream .word')
      .evaluateAll(all =>
        all.map(one => one.getBoundingClientRect()).map(({ left, right }) => [left, right]),
      );
    expect(words.length).toBe(12);
    for (const [at, [left = 0]] of words.entries())
      if (at > 0) expect(left).toBeGreaterThanOrEqual(words[at - 1]?.[1] ?? Number.POSITIVE_INFINITY);
  });

  it('all matrices of the backward pass are in sight', async () => {
    await site.visit('?lang=de#/backward');
    await site.page.locator('.matrix button').last().waitFor();
    const right = await site.page
      .locator('.matrix button')
      .evaluateAll(all => Math.max(...all.map(one => one.getBoundingClientRect().right)));
    expect(right).toBeLessThanOrEqual(phone.width - 2 * 16);
    const regions = await site.page.locator('.scroll-x:has(.matrix)').getAttribute('data-more');
    expect(regions).toBeNull();
  });

  it('the last chapter of the header is not faded while it is open', async () => {
    await site.visit('?lang=en#/doctor');
    const [bar, link] = [await boxOf('.chapters'), await boxOf('.chapters a[aria-current]')];
    // The last 24 pixels of the bar fade.
    expect(link.x + link.width).toBeLessThanOrEqual(bar.x + bar.width - 24);
  });

  it('the controls of the machine are next to the program', async () => {
    await site.visit('?lang=en#/machine');
    await site.page.locator('.cm-content').waitFor();
    const [editor, player] = [await boxOf('.editor'), await boxOf('.player')];
    expect(player.y).toBeGreaterThan(editor.y);
    expect(player.y - (editor.y + editor.height)).toBeLessThan(40);
  });

  it('buttons and handles are large enough for a finger', async () => {
    const brand = await boxOf('.brand');
    expect(Math.min(brand.width, brand.height)).toBeGreaterThanOrEqual(44);
    await site.visit('?lang=en#/loops');
    await site.page.getByRole('slider').first().waitFor();
    expect((await boxOf('input[type=range]')).height).toBeGreaterThanOrEqual(24);
  });
});

describe('on a desktop of 1440 × 900', () => {
  beforeAll(() => site.page.setViewportSize({ width: 1440, height: 900 }));

  it('the header shows every chapter in full', async () => {
    await site.visit('?lang=de#/');
    await site.page.locator('.chapters a').last().waitFor();
    const beyond = await site.page.evaluate(
      `{ const bar = document.querySelector('.chapters'); bar.scrollWidth - bar.clientWidth }`,
    );
    expect(beyond).toBeLessThanOrEqual(0);
  });

  it.each([
    ['machine', 'outer-product'],
    ['softmax', 'online-softmax'],
    ['attention', 'merge'],
    ['loops', 'keys-outside'],
    ['backward', 'backward-column'],
  ])('an exercise of %s is on the screen from its task to the verdict', async (chapter, problem) => {
    await site.visit(`?lang=en${placeHash({ chapter, state: { problem } })}`);
    await site.page.locator('.workbench').waitFor();
    await site.page.evaluate("document.querySelector('.workbench').scrollIntoView()");
    await site.page.locator('.cm-content').waitFor();
    for (const hint of [1, 2, 3])
      await site.page.getByRole('button', { name: `Show hint ${hint} of 3` }).click();
    await site.page.getByRole('button', { name: 'Show a solution' }).click();
    await site.page.getByRole('button', { name: 'Put this program into the editor' }).click();
    await site.page.locator('.workbench .solved').waitFor();
    const parts = ['#exercise-title', '.editor', '.machine', '.workbench .player', '.workbench .solved'];
    await site.page.locator('#exercise-title').evaluate('one => one.scrollIntoView()');
    const boxes = await Promise.all(parts.map(boxOf));
    const top = Math.min(...boxes.map(({ y }) => y));
    const bottom = Math.max(...boxes.map(({ y, height }) => y + height));
    // The header takes 56 pixels of the window.
    expect(bottom - top).toBeLessThan(900 - 56);
  });

  it('the counts beside a solved program are its own, and zero beside none', async () => {
    const [problem] = matrixProblems;
    await site.visit(
      `?lang=en${placeHash({ chapter: 'machine', state: { program: problem?.solution ?? '' } })}`,
    );
    await site.page.getByText('Solved in 7 cycles.').waitFor();
    const cycles = site.page.locator('.stats div', { hasText: 'Cycles' }).locator('dd');
    expect(await cycles.textContent()).toBe('7');
    await site.page.getByRole('button', { name: 'Start over' }).click();
    await site.page.getByText('Solved in 7 cycles.').waitFor({ state: 'detached' });
    expect(await cycles.textContent()).toBe('0');
  });

  it('each of eight numbers in the memory of the softmax machine is on one line', async () => {
    const problem = softmaxProblems.find(({ id }) => id === 'online-softmax');
    const state = { problem: 'online-softmax', n: '8', program: problem?.solution ?? '' };
    await site.visit(`?lang=de${placeHash({ chapter: 'softmax', state })}`);
    await site.page.locator('.workbench .solved').waitFor();
    await site.page.getByRole('button', { name: 'Zum Ende' }).first().click();
    await site.page.locator('.region .value', { hasText: '0,003875' }).waitFor();
    const lines = await site.page
      .locator('.region .value')
      .evaluateAll(all => all.map(one => one.getClientRects().length));
    expect(lines).toEqual(Array.from({ length: 16 }, () => 1));
  });

  it('large numbers are grouped in controls, notes and axes, in the style of the language', async () => {
    await site.visit('?lang=de#/loops');
    const chart = site.page.locator('.chart[aria-label^="Roofline"]');
    await chart.scrollIntoViewIfNeeded();
    await chart.getByText('1.024', { exact: true }).waitFor({ state: 'attached' });
    // The axis has all its labels.
    await chart.getByText('64', { exact: true }).waitFor({ state: 'attached' });
    await site.page.getByText('1.008', { exact: true }).waitFor();
    await site.page.getByText('4.096 Queries und Keys').waitFor();
  });

  it('a sum that is not complete does not look like finished columns', async () => {
    await site.visit('?lang=en#/backward?walked=3');
    const dK = site.page.locator('.walk figure', { hasText: 'dK' });
    await dK.waitFor();
    expect(await dK.locator('.terms').allTextContents()).toEqual(Array.from({ length: 8 }, () => '3/8'));
    const dQ = site.page.locator('.walk figure', { hasText: 'dQ' });
    expect(await dQ.locator('.gradient-fill[data-whole=true]').count()).toBe(3);
  });

  it('a merged tile does not look selected', async () => {
    await site.visit('?lang=en#/attention');
    const tiles = site.page.locator('button.tile');
    await tiles.nth(0).click();
    await tiles.nth(1).click();
    await site.page.locator('.tile[data-merged=true]').waitFor();
    expect(await site.page.locator('.tile[aria-pressed=true]').count()).toBe(0);
    const styles = await tiles.evaluateAll(all => all.map(one => getComputedStyle(one).backgroundColor));
    expect(new Set(styles).size).toBe(1);
  });

  it('the borders of 128-tiles are drawn on the block mask alone', async () => {
    await site.visit('?lang=en#/lab?mask=block');
    const borders = site.page.locator('.tile-borders').first();
    await borders.waitFor({ state: 'attached' });
    expect(await borders.getAttribute('d')).toContain('M128 0V512M0 128H512');
    await site.visit('?lang=en#/lab?mask=causal');
    await borders.waitFor({ state: 'attached' });
    expect(await borders.getAttribute('d')).toBe('');
  });

  it('says that a report belongs to other settings', async () => {
    await site.visit('?lang=en#/doctor?engine=cpu&size=small&d=32');
    await site.page.getByRole('button', { name: 'Examine' }).click();
    await site.page.getByText(/^\d+ measurements\.$/).waitFor({ state: 'attached' });
    await site.page.getByText('bf16', { exact: true }).click();
    await site.page.getByText('You have changed the settings since').waitFor();
  });
});
