import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { formatJson } from '@tilewise/graph';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chapters } from '../app/chapters.ts';
import { placeHash } from '../app/url-state.ts';
import { attentionGraph } from '../graph/attention-graph.ts';
import { matrixProblems } from '../machine/matrix/matrix-problems.ts';
import { en } from '../text/en.ts';
import { openSite, type Site } from './site.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());
beforeEach(() => {
  site.errors.length = 0;
});

/** Rules of WCAG that the page breaks, with the elements that do. */
async function broken(): Promise<string[]> {
  await site.page.evaluate(axeSource);
  const found = await site.page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  );
  return found as string[];
}

/** How far the content is wider than the window. */
const overflow = (): Promise<number> =>
  site.page.evaluate('document.documentElement.scrollWidth - window.innerWidth') as Promise<number>;

describe.each(chapters)('the chapter $id', ({ id }) => {
  const { title } = en.chapters[id];
  it.each(['light', 'dark'] as const)(
    'opens in %s without errors, and is accessible',
    async colorScheme => {
      await site.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await site.page.setViewportSize({ width: 1280, height: 900 });
      await site.visit(`#/${id}`);
      await site.page.getByRole('heading', { level: 1, name: title }).waitFor();
      await site.page.waitForLoadState('networkidle');
      expect(await broken()).toEqual([]);
      expect(site.errors).toEqual([]);
    },
    60_000,
  );

  it('fits a phone', async () => {
    await site.page.setViewportSize({ width: 390, height: 844 });
    await site.visit(`#/${id}`);
    await site.page.getByRole('heading', { level: 1, name: title }).waitFor();
    await site.page.waitForLoadState('networkidle');
    expect(await overflow()).toBeLessThanOrEqual(0);
  }, 60_000);
});

const graphOptions = {
  pass: 'training',
  dtype: 'f32',
  mask: 'causal',
  softmax: 'operation',
  dropout: false,
  grouped: false,
  softcap: false,
} as const;

describe('a visitor', () => {
  beforeAll(() => site.page.setViewportSize({ width: 1280, height: 900 }));

  it('has the 25-cycle program accepted, and shares it by the address', async () => {
    const problem = matrixProblems.find(({ id }) => id === 'inner-product');
    await site.visit(
      placeHash({
        chapter: 'machine',
        state: { problem: 'inner-product', program: problem?.solution ?? '' },
      }),
    );
    const verdict = site.page.getByText('Solved in 25 cycles.');
    await verdict.waitFor();
    expect(await verdict.textContent()).toContain('No program for this machine with 3 registers takes fewer');
  }, 60_000);

  it('writes a program, breaks it, and is told the line', async () => {
    await site.visit('#/machine');
    const editor = site.page.getByRole('textbox', { name: 'Program: One element' });
    await editor.click();
    await site.page.keyboard.type('LOAD a[0][0], R0\n', { delay: 5 });
    await site.page.keyboard.press('Escape');
    await site.page.keyboard.type('MAC_Z R1, R0, R2');
    await site.page.getByText('Line 2: the multiplier reads R0 here').waitFor();
  }, 60_000);

  it('steps through the machine with the keyboard', async () => {
    const [problem] = matrixProblems;
    await site.visit(placeHash({ chapter: 'machine', state: { program: problem?.solution ?? '' } }));
    const next = site.page.getByRole('button', { name: 'Next instruction' });
    await next.focus();
    for (let n = 0; n < 3; n++) await site.page.keyboard.press('Enter');
    await site.page.getByText('MAC_Z R0, R1, R2. R2 is now a₀₀b₀₀').waitFor({ state: 'attached' });
  }, 60_000);

  it('sees exp(m) overflow', async () => {
    await site.visit('#/softmax');
    await site.page.getByRole('button', { name: 'Show it overflow' }).click();
    await site.page.getByText(/holds NaN/).waitFor();
  }, 60_000);

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
  }, 60_000);

  it('compares masks in the lab', async () => {
    await site.visit('#/lab?mask=causal&i=3&j=9');
    await site.page.getByRole('button', { name: /^Probabilities P: query 3, key 9: hidden/ }).waitFor();
    await site.page.getByText('No mask', { exact: true }).first().click();
    await site.page.getByRole('button', { name: /^Probabilities P: query 3, key 9: 0\.\d+/ }).waitFor();
  }, 60_000);

  it('adds dropout to the graph, which stays one partition, and takes it apart', async () => {
    await site.visit('#/graph');
    const operation = (kind: string) => site.page.locator('.graph-operation', { hasText: kind });
    await operation('SoftMax').waitFor();
    expect(await operation('Dropout').count()).toBe(0);
    await site.page.getByLabel('Dropout').check();
    await operation('Dropout').waitFor();
    const partitions = site.page.locator('.graph-partition-kind');
    expect(await partitions.allTextContents()).toEqual(['sdpa-training']);
    await site.page.getByText('One per operation').click();
    await partitions.waitFor({ state: 'detached' });
    await site.page.waitForURL(/dropout=on.*policy=debug/);
  }, 60_000);

  it('walks through the graph with the arrow keys', async () => {
    await site.visit('#/graph');
    await site.page.locator('.graph-operation[tabindex="0"]').focus();
    await site.page.keyboard.press('ArrowDown');
    await site.page.getByRole('heading', { level: 3, name: 'Multiply' }).waitFor();
  }, 60_000);

  it('drops a graph file, sees its partition and runs it; a broken one is refused with the reason', async () => {
    const drop = (name: string, content: string): Promise<unknown> =>
      site.page.evaluate(
        `{ const dataTransfer = new DataTransfer();
           dataTransfer.items.add(new File([${JSON.stringify(content)}], '${name}'));
           document.querySelector('.graph-drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true })); }`,
      );
    const { graph } = attentionGraph({ ...graphOptions, pass: 'backward', dropout: true });
    await site.visit('#/graph?engine=cpu');
    await site.page.locator('.graph-drop').waitFor();
    await drop('mine.json', formatJson(graph));
    await site.page.getByRole('heading', { name: 'mine.json' }).waitFor();
    expect(await site.page.locator('.graph-partition-kind').allTextContents()).toEqual(['sdpa-backward']);
    await site.page.getByRole('button', { name: 'Run the graph' }).click();
    await site.page.getByText('Both give the same').waitFor();
    await drop('broken.json', '{"graph": []}');
    await site.page.getByText("the JSON has no 'version'").waitFor();
  }, 60_000);

  it('measures on the CPU, and copies the numbers as JSON', async () => {
    await site.visit('#/bench?engine=cpu&size=small&d=32');
    await site.page.getByRole('button', { name: 'Measure' }).click();
    await site.page.getByText('6 measurements.').waitFor({ state: 'attached' });
    await site.page.getByText('As JSON', { exact: true }).click();
    const { rows } = JSON.parse((await site.page.locator('.bench-json').textContent()) ?? '');
    expect(rows).toHaveLength(6);
    for (const { tflops, failure } of rows) {
      expect(failure).toBeUndefined();
      expect(tflops).toBeGreaterThan(0);
    }
    expect(await broken()).toEqual([]);
  }, 60_000);

  it('measures on the GPU beside stored scores, and stops when it has seen enough', async () => {
    await site.visit('#/bench?size=small&d=32');
    await site.page.getByRole('button', { name: 'Measure' }).click();
    await site.page.getByRole('cell', { name: 'stored' }).first().waitFor();
    await site.page.getByRole('button', { name: 'Stop' }).click();
    await site.page.getByRole('button', { name: 'Measure' }).waitFor();
    expect(await site.page.getByText(/^\d+ measurements\.$/).count()).toBe(1);
  }, 60_000);

  it('trains, sees the loss fall, asks the model, and gets the same curve from the same seed', async () => {
    await site.visit('#/train?task=page&layers=1&heads=1&dim=16&engine=cpu');
    const stat = async (name: string): Promise<string> =>
      (await site.page.locator('.stats div', { hasText: name }).locator('dd').textContent()) ?? '';
    const tenSteps = async (until: number): Promise<number> => {
      await site.page.getByRole('button', { name: 'Ten steps' }).click();
      await site.page.locator('.stats dd', { hasText: new RegExp(`^${until}$`) }).waitFor();
      await site.page.getByRole('button', { name: 'Go on' }).waitFor();
      return Number(await stat('Loss'));
    };
    const first = await tenSteps(10);
    expect(await tenSteps(20)).toBeLessThan(first - 0.2);
    await site.page.getByText('after 20 steps').waitFor();
    await site.page.getByRole('button', { name: 'Continue' }).click();
    await site.page.locator('.train-sample strong', { hasText: /./ }).waitFor();
    await site.page.getByRole('button', { name: 'Start over' }).click();
    await tenSteps(10);
    await site.page.getByText('Same seed, same curve: all 10 steps').waitFor();
    expect(await broken()).toEqual([]);
  }, 120_000);
});
