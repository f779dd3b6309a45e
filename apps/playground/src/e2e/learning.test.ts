import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matrixProblems } from '../logic/machine/matrix/matrix-problems.ts';
import { placeHash } from '../state/url-state.ts';
import { en } from '../text/en/index.ts';
import { backward } from '../text/en/learn/backward.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
  await site.page.setViewportSize({ width: 1280, height: 900 });
});
afterAll(() => site?.close());

const text = (words: string | RegExp): Promise<void> => site.page.getByText(words).first().waitFor();
const press = (name: string | RegExp): Promise<void> =>
  site.page.getByRole('button', { name }).first().click();

/** Asks for every hint of an exercise, and then for a solution. */
async function openSolution(): Promise<void> {
  for (const hint of [1, 2, 3]) await press(`Show hint ${hint} of 3`);
  await press('Show a solution');
}

/** Moves a slider to a value, as the arrow keys do. */
const slide = (name: string, to: number): Promise<void> =>
  site.page.getByRole('slider', { name }).first().fill(String(to));

describe('a visitor of the machine', () => {
  it('has the 25-cycle program accepted, and shares it by the address', async () => {
    const problem = matrixProblems.find(({ id }) => id === 'inner-product');
    await site.visit(
      placeHash({
        chapter: 'machine',
        state: { problem: 'inner-product', program: problem?.solution ?? '' },
      }),
    );
    await text(`${en.bench.solved(25)} ${en.machine.optimum(3)}`);
  });

  it('writes a program, breaks it, and is told the line', async () => {
    await site.visit('#/machine');
    // The editor, which replaces a plain field.
    await site.page.locator('.cm-content').click();
    await site.page.keyboard.type('LOAD a[0][0], R0', { delay: 5 });
    // Completions would consume Enter.
    await site.page.keyboard.press('Escape');
    await site.page.keyboard.press('Enter');
    await site.page.keyboard.type('MAC_Z R1, R0, R2');
    await text('Line 2: the multiplier reads R0 here');
    await site.page.waitForURL(/program=LOAD/);
  });

  it('completes an instruction', async () => {
    await site.visit('#/machine');
    await site.page.locator('.cm-content').click();
    await site.page.keyboard.type('LO');
    await site.page.locator('.cm-completionLabel', { hasText: 'LOAD' }).waitFor();
    // The list ignores keys at the moment when it appears.
    await site.page.waitForTimeout(150);
    await site.page.keyboard.press('Enter');
    await site.page.locator('.cm-line', { hasText: 'LOAD' }).waitFor();
  });

  it('looks at the full trace and copies it: 22 cycles with six registers', async () => {
    await site.visit('#/machine?problem=outer-product');
    await openSolution();
    await press('Put this program into the editor');
    await text(`${en.bench.solved(22)} ${en.machine.optimum(6)}`);
  });

  it('finds the program of each exercise again: after another exercise, the same link, and reloading', async () => {
    const editor = site.page.locator('.cm-content');
    await site.visit('#/machine');
    await editor.click();
    await site.page.keyboard.type('LOAD a[0][0], R0', { delay: 5 });
    await site.page.getByText('Problem 2', { exact: true }).click();
    await site.page.getByRole('textbox', { name: /^Program: The whole matrix/ }).waitFor();
    await site.page.locator('.cm-line', { hasText: 'LOAD a[0][0], R0' }).waitFor({ state: 'detached' });
    expect(await editor.textContent()).not.toContain('LOAD a[0][0], R0');
    await site.page.getByText('Problem 1', { exact: true }).click();
    await site.page.locator('.cm-line', { hasText: 'LOAD a[0][0], R0' }).waitFor();
    await site.page.getByText('any register', { exact: true }).first().click();
    // The link of the open chapter leads to its top and leaves its settings alone.
    await site.page.locator('.chapters [aria-current]').click();
    await site.page.waitForURL(/wiring=any/);
    await site.page.locator('.cm-line', { hasText: 'LOAD a[0][0], R0' }).waitFor();
    await site.page.reload();
    await site.page.locator('.cm-line', { hasText: 'LOAD a[0][0], R0' }).waitFor();
  });

  it('starts over where the address has no program', async () => {
    const line = site.page.locator('.cm-line', { hasText: 'LOAD b[0][0], R1' });
    await site.visit('#/machine');
    await site.page.locator('.cm-content').click();
    await site.page.keyboard.insertText('LOAD b[0][0], R1');
    await site.page.waitForURL(/program=LOAD/);
    await site.page.goto('about:blank');
    await site.page.goto(`${site.address}#/machine`);
    await line.waitFor();
    await press('Start over');
    await line.waitFor({ state: 'detached' });
  });

  it('copies a solution, starts over, and restores the replaced program', async () => {
    await site.visit('#/machine');
    await site.page.locator('.cm-content').click();
    await site.page.keyboard.type('LOAD b[0][0], R1', { delay: 5 });
    await openSolution();
    await press('Put this program into the editor');
    await text('Solved in 7 cycles.');
    await press('Restore the replaced program');
    await site.page.locator('.cm-line', { hasText: 'LOAD b[0][0], R1' }).waitFor();
    await press('Start over');
    await site.page.locator('.cm-line', { hasText: 'LOAD b[0][0], R1' }).waitFor({ state: 'detached' });
    await press('Restore the replaced program');
    await site.page.locator('.cm-line', { hasText: 'LOAD b[0][0], R1' }).waitFor();
  });

  it('steps with the keyboard; what an instruction reads flies to where it writes', async () => {
    const [problem] = matrixProblems;
    await site.page.emulateMedia({ reducedMotion: 'no-preference' });
    await site.visit(placeHash({ chapter: 'machine', state: { program: problem?.solution ?? '' } }));
    await site.page.getByRole('button', { name: 'Next instruction' }).focus();
    // The flying value exists for less than half a second, so an observer records it instead of a search.
    await site.page.evaluate(`new MutationObserver(records => {
      const added = records.flatMap(({ addedNodes }) => [...addedNodes]);
      if (added.some(({ className }) => className === 'flight')) window.flew = true;
    }).observe(document, { subtree: true, childList: true })`);
    await site.page.keyboard.press('Enter');
    await site.page.waitForFunction('window.flew');
    await site.page.emulateMedia({ reducedMotion: 'reduce' });
    for (let n = 0; n < 2; n++) await site.page.keyboard.press('Enter');
    await site.page.getByText('MAC_Z R0, R1, R2. R2 is now a₀₀b₀₀').waitFor({ state: 'attached' });
    await site.page.waitForURL(/at=3/);
  });
});

describe('a visitor of softmax and attention', () => {
  it('sees exp(m) overflow, in the sums and on the machine', async () => {
    await site.visit('#/softmax?shift=100');
    await text('Both end in the same sum: 1.43 and 1.43.');
    await site.page.getByText('exp(m) / exp(m′)', { exact: true }).first().click();
    await text('∞ / ∞ is not a number');
    await press('Show it overflow on the machine');
    await text(/holds NaN/);
  });

  it('restores the replaced program after the overflow was shown', async () => {
    await site.visit('#/softmax?problem=online-softmax');
    await site.page.locator('.cm-content').click();
    await site.page.keyboard.type('LOAD x[0], r1', { delay: 5 });
    await press('Show it overflow on the machine');
    await text(/holds NaN/);
    await press('Restore the replaced program');
    await site.page.locator('.cm-line', { hasText: 'LOAD x[0], r1' }).waitFor();
    expect(await site.page.locator('.cm-line').count()).toBe(1);
  });

  it('is told the input on which a program without a maximum overflows', async () => {
    const source =
      'LOAD x[0], r2\nEXP r2, r2\nFOR i = 1 TO n-1\nLOAD x[i], R0\nEXP R0, R0\nADD r2, R0, r2\nEND\n' +
      'FOR i = 0 TO n-1\nLOAD x[i], R0\nEXP R0, R0\nDIV R0, r2, R0\nSTORE R0, out[i]\nEND';
    await site.visit(placeHash({ chapter: 'softmax', state: { program: source } }));
    await text(/with x = \(101\.5, 99, 103, 100\), out\[0\] holds NaN/);
    expect(await site.page.getByText(/^Solved in/).count()).toBe(0);
  });

  it('counts 3n reads against 2n', async () => {
    await site.visit('#/softmax');
    await slide('Numbers (n)', 6);
    await site.page.getByRole('slider', { name: 'Numbers (n)' }).nth(1).fill('40');
    const reads = site.page.getByRole('row', { name: /^DRAM reads/ });
    expect(await reads.textContent()).toBe('DRAM reads12080');
  });

  it('scrubs the tiles, and comes to the same output for every size', async () => {
    const output = async (tile: number): Promise<string | null> => {
      await slide('Keys per tile', tile);
      await text('All keys have been seen');
      return site.page.locator('.running div', { hasText: 'o = numerator / d' }).locator('dd').textContent();
    };
    await site.visit('#/attention');
    await text('Keys per tile');
    await press('To the end');
    const one = await output(1);
    expect(one).toMatch(/^\(0\.\d{3}, 0\.\d{3}, 0\.\d{3}\)$/);
    expect(await output(5)).toBe(one);
  });

  it('merges all tiles by hand to the attention output', async () => {
    await site.visit('#/attention');
    const tiles = site.page.locator('.tile');
    await tiles.first().waitFor();
    for (let left = await tiles.count(); left > 1; left--) {
      await tiles.nth(0).click();
      await tiles.nth(1).click();
    }
    const result = await site.page.locator('.solved').textContent();
    const [merged, whole] = [...(result ?? '').matchAll(/\(([^)]*)\)/g)].map(([, numbers]) => numbers);
    expect(merged).toBe(whole);
    await site.page.waitForURL(/merge=/);
  });
});

describe('a visitor of loop orders and backward', () => {
  it('keeps outputs in fast memory until they are stored as often as in the other order', async () => {
    await site.visit('#/loops');
    const stores = site.page
      .getByRole('table', { name: /FlashAttention-1/ })
      .getByRole('row', { name: /O stores/ });
    expect(await stores.locator('td').last().textContent()).toBe('64');
    await slide('Output slots in fast memory', 8);
    expect(await stores.locator('td').last().textContent()).toBe('8');
    await press('H100 SXM');
    await site.page.waitForURL(/peak=989/);
  });

  it('loads K twice as often without D, and reads the derivation to its end', async () => {
    await site.visit('#/backward?loaded=36');
    await text('36 / 36');
    await site.page.getByText(backward.lateD).click();
    await text('36 / 72');
    for (let step = 1; step < 13; step++) await press('Next step');
    await text('Through the projections, to the weights');
  });

  it('keeps the chosen element while the mouse passes over others on its way to the slider', async () => {
    await site.visit('#/backward');
    await site.page.getByRole('button', { name: /^K\[2,1\] =/ }).click();
    await site.page.getByRole('button', { name: /^dQ\[3,0\] =/ }).hover();
    await text('dQ[3,0] = Σj dS[3,j]·K[j,0]');
    await slide(backward.move('K[2,1]'), 10);
    await site.page.waitForURL(/element=K21&moved=10/);
    await site.page.getByRole('button', { name: 'K[2,1] = 2.00' }).focus();
    await site.page.keyboard.press('ArrowUp');
    await site.page.waitForURL(/element=K11/);
  });

  it('keeps the chosen element while Tab passes over others on its way to the slider', async () => {
    await site.visit('#/backward?element=K21');
    await site.page.getByRole('button', { name: /^K\[2,1\] =/ }).focus();
    await site.page.keyboard.press('Tab');
    // V is given; Tab shows what it stops at.
    await site.page.locator('.making').getByText(backward.given).waitFor();
    const focused = (): Promise<unknown> => site.page.evaluate('document.activeElement.type');
    for (let stop = 0; stop < 20 && (await focused()) !== 'range'; stop++) {
      await site.page.keyboard.press('Tab');
    }
    await site.page.keyboard.press('ArrowRight');
    await site.page.waitForURL(/element=K21&moved=1/);
  });
});

describe('a visitor of dropout and the lab', () => {
  it('sees the same masks from the engine, and walks to another element', async () => {
    await site.visit('#/dropout?i=5&j=6');
    const same = site.page.getByText('The engine’s mask is the same in all 4,096 elements.');
    await same.nth(2).waitFor();
    await site.page.getByRole('button', { name: /^FlashAttention-2: element \(5, 6\)/ }).focus();
    await site.page.keyboard.press('ArrowRight');
    await text('Query 5, key 7');
    await site.page.getByRole('textbox', { name: 'Seed' }).fill('23');
    await same.nth(2).waitFor();
    await site.page.getByRole('textbox', { name: 'Seed' }).fill('none');
    await text('The masks are those of seed 23 and offset 1.');
    await same.nth(2).waitFor();
  });

  it('compares masks, and sets their values', async () => {
    await site.visit('#/lab?mask=causal&i=3&j=9');
    const pair = (shown: string) =>
      site.page.getByRole('button', { name: new RegExp(`^Probabilities P: query 3, key 9: ${shown}`) });
    await pair('hidden').waitFor();
    await site.page.getByText('No mask', { exact: true }).first().click();
    await pair('0\\.\\d+').waitFor();
    await site.page.getByText('Sliding window', { exact: true }).first().click();
    await slide('Keys to the left', 2);
    await text('sdpa(q, k, v, { causal: true, window: { left: 2 } })');
    await text(en.lab.seen('12.0%'));
  });
});
