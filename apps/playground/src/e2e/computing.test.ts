import { formatJson, Graph } from '@tilewise/graph';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attentionGraph } from '../logic/graph/attention-graph.ts';
import { brokenRules } from './accessibility.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());
beforeEach(() => {
  site.errors.length = 0;
});

/** Drops a file on the page, outside every element that takes files. */
const drop = (name: string, content: string): Promise<unknown> =>
  site.page.evaluate(
    `{ const dataTransfer = new DataTransfer();
       dataTransfer.items.add(new File([${JSON.stringify(content)}], '${name}'));
       document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true })); }`,
  );

const graphOptions = {
  pass: 'training',
  dtype: 'f32',
  mask: 'causal',
  softmax: 'operation',
  dropout: false,
  grouped: false,
  softcap: false,
} as const;

describe('a visitor who computes', () => {
  beforeAll(() => site.page.setViewportSize({ width: 1280, height: 900 }));

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
  });

  it('walks through the graph with the arrow keys', async () => {
    await site.visit('#/graph');
    await site.page.locator('.graph-operation[tabindex="0"]').focus();
    await site.page.keyboard.press('ArrowDown');
    await site.page.getByRole('heading', { level: 3, name: 'Multiply' }).waitFor();
  });

  it('drops a graph file, sees its partition and runs it; a broken one is refused with the reason', async () => {
    const { graph } = attentionGraph({ ...graphOptions, pass: 'backward', dropout: true });
    await site.visit('#/graph?engine=cpu');
    await site.page.locator('.graph-drop').waitFor();
    await drop('mine.json', formatJson(graph));
    await site.page.getByRole('heading', { name: 'mine.json' }).waitFor();
    // The picture changes when a worker has laid it out.
    const kinds = site.page.locator('.graph-partition-kind');
    await kinds.filter({ hasText: 'sdpa-backward' }).waitFor();
    expect(await kinds.allTextContents()).toEqual(['sdpa-backward']);
    await site.page.getByRole('button', { name: 'Run the graph' }).click();
    await site.page.getByText('Both give the same').waitFor();
    await drop('broken.json', '{"graph": []}');
    await site.page.getByText("the JSON has no 'version'").waitFor();
    // Reloading shows the file that was open.
    await site.page.reload();
    await site.page.getByRole('heading', { name: 'broken.json' }).waitFor();
    await site.page.getByRole('button', { name: 'Back to the graph of attention' }).click();
    await site.page.reload();
    await site.page.locator('.graph-operation').first().waitFor();
  });

  it('opens a graph of 2,000 chained operations, and walks to its border', async () => {
    const chain = new Graph();
    let end = chain.tensor({ dtype: 'f32', shape: [4] });
    for (let n = 0; n < 2000; n++) {
      const next = chain.tensor({ dtype: 'f32', shape: [4] });
      chain.op('Abs', { inputs: [end], outputs: [next] });
      end = next;
    }
    await site.visit('#/graph?policy=debug');
    await site.page.locator('.graph-operation').first().waitFor();
    await drop('long.json', formatJson(chain.finalize()));
    await site.page.getByText('The graph has 2000 operations.').waitFor();
    await site.page.waitForFunction(`document.querySelectorAll('.graph-operation').length === 120`);
    await site.page.getByRole('button', { name: /Abs × 2000/ }).click();
    await site.page.getByRole('button', { name: /Abs 1 of 2000/ }).waitFor();
    const ids = `[...document.querySelectorAll('.graph-operation')].map(one => Number(one.dataset.operation))`;
    const last = Number(await site.page.evaluate(`Math.max(...${ids})`));
    await site.page.locator(`[data-operation="${last}"]`).click();
    await site.page.waitForFunction(`Math.max(...${ids}) > ${last}`);
  });

  it('measures on the CPU with the stated number of threads, and copies the numbers as JSON', async () => {
    await site.visit('#/doctor?engine=cpu&size=auto&d=64');
    const cores = Number(await site.page.evaluate('crossOriginIsolated && navigator.hardwareConcurrency'));
    expect(cores).toBeGreaterThanOrEqual(1);
    const threads = Math.min(cores, 16);
    // The worker counts the threads that it starts, from its first line on.
    await site.page.route(/examination-worker/, async route => {
      const response = await route.fetch();
      const { 'content-encoding': _, ...headers } = response.headers();
      const body = `{
        const threads = new BroadcastChannel('threads');
        const { Worker } = self;
        let count = 0;
        self.Worker = class extends Worker {
          constructor(...given) {
            super(...given);
            threads.postMessage(++count);
          }
        };
      }\n${await response.text()}`;
      await route.fulfill({ response, headers, body });
    });
    await site.page.evaluate(`{
      window.threads = 1;
      new BroadcastChannel('threads').onmessage = ({ data }) => { window.threads = data; };
    }`);
    await site.page.getByRole('button', { name: 'Examine' }).click();
    await site.page.getByText('6 measurements.').waitFor({ state: 'attached' });
    // The worker's messages may arrive after its last measurement.
    await site.page.waitForFunction(`window.threads >= ${threads}`);
    expect(await site.page.evaluate('window.threads')).toBe(threads);
    await site.page.unroute(/examination-worker/);
    const { attention } = JSON.parse((await site.page.locator('.doctor-json').textContent()) ?? '');
    const { machine, measurements } = attention;
    expect(machine.description).toMatch(threads === 1 ? /, one thread$/ : `, up to ${threads} threads`);
    expect(measurements).toHaveLength(6);
    for (const { ms, failure } of measurements) {
      expect(failure).toBeUndefined();
      expect(ms).toBeGreaterThan(0);
    }
    expect(await brokenRules(site.page)).toEqual([]);
  });

  it('examines the GPU, draws its roofline, keeps the report, and compares it with another', async () => {
    const { page } = site;
    // An address from the time before the chapter had its current name.
    await site.visit('#/bench?size=small&d=32');
    await page.getByRole('button', { name: 'Examine' }).click();
    await page.getByRole('heading', { name: 'Is it right?' }).waitFor();
    expect(await page.locator('.doctor-checks tbody tr').count()).toBe(4);
    expect(await page.locator('.doctor-checks [data-bad=true]').count()).toBe(0);
    await page.getByText('12 measurements.').waitFor({ state: 'attached' });
    const shares = page.getByRole('region', { name: /^Prediction and measurement/ }).locator('tbody tr');
    expect(await shares.count()).toBe(12);
    // WebGPU guarantees no subgroups, so it guarantees no size of a subgroup.
    const sizes = page.getByRole('row', { name: /^subgroupMinSize/ });
    expect(await sizes.getByRole('cell').last().textContent()).toBe('–');

    // Leaving the page, or the browser, loses nothing.
    await page.reload();
    const json = (await page.locator('.doctor-json').textContent()) ?? '';
    const other = JSON.parse(json);
    for (const row of other.attention.measurements) row.ms /= 2;
    other.diagnosis.checks[0].error = 'Infinity';
    const [first, second] = [
      page.getByLabel('First report, as JSON'),
      page.getByLabel('Second report, as JSON'),
    ];
    await second.fill('{"format":"tilewise-device-report","version":1,"made":"","host":"","diagnosis":[]}');
    await page.getByText('report.diagnosis must be an object').waitFor();
    await second.fill(JSON.stringify(other));
    const compared = page.getByRole('region', { name: 'Compare two reports' });
    await compared.getByRole('row', { name: /^flash forward, 2 × 64 × 32, f32 .* 2 ×$/ }).waitFor();
    await compared.getByRole('row', { name: 'forward, f32 right wrong' }).waitFor();
    // Another chapter does not lose the report.
    await page.goto(`${site.address}#/overview`);
    await page.getByRole('heading', { level: 1, name: 'What attention is' }).waitFor();
    await page.goBack();
    await compared.getByRole('row', { name: 'forward, f32 right wrong' }).waitFor();
    await first.fill(JSON.stringify(other));
    await page.getByLabel('Only what differs').check();
    expect(await compared.locator('tbody tr').count()).toBe(0);
    expect(await brokenRules(page)).toEqual([]);
  });

  it('stops an examination when the visitor has seen enough', async () => {
    await site.visit('#/doctor?size=small&d=32');
    await site.page.getByRole('button', { name: 'Examine' }).click();
    await site.page.getByRole('progressbar').waitFor();
    await site.page.getByRole('button', { name: 'Stop' }).click();
    await site.page.getByRole('button', { name: 'Examine' }).waitFor();
    expect(await site.page.getByRole('progressbar').count()).toBe(0);
  });

  it('is told that a text is too short, writes more, and trains on it', async () => {
    await site.visit('#/train?task=own&layers=1&heads=1&dim=16&engine=cpu');
    await site.page.getByRole('textbox', { name: 'Your text' }).fill('To be');
    await site.page.getByText('A text needs at least 231 characters; this one has 5.').waitFor();
    expect(await site.page.getByRole('button', { name: 'Train', exact: true }).isDisabled()).toBe(true);
    // Another chapter and reloading lose nothing.
    const written = (): Promise<string> => site.page.getByRole('textbox', { name: 'Your text' }).inputValue();
    await site.page.evaluate(`location.hash = '#/machine'`);
    await site.page.locator('.cm-content').waitFor();
    await site.page.goBack();
    expect(await written()).toBe('To be');
    await site.page.reload();
    expect(await written()).toBe('To be');
    await site.page.getByRole('textbox', { name: 'Your text' }).fill('To be or not to be. '.repeat(20));
    await site.page.getByRole('button', { name: 'Ten steps' }).click();
    await site.page.locator('.stats dd', { hasText: /^10$/ }).waitFor();
  });

  it('trains, sees the loss fall, asks the model, and gets the same curve from the same seed', async () => {
    await site.visit('#/train?task=page&layers=1&heads=1&dim=16&engine=cpu');
    const stat = async (name: string): Promise<string> =>
      (await site.page.locator('.stats div', { hasText: name }).first().locator('dd').textContent()) ?? '';
    const tenSteps = async (until: number): Promise<number> => {
      await site.page.getByRole('button', { name: 'Ten steps' }).click();
      await site.page.locator('.stats dd', { hasText: new RegExp(`^${until}$`) }).waitFor();
      await site.page.getByRole('button', { name: 'Resume' }).waitFor();
      return Number(await stat('Loss'));
    };
    const first = await tenSteps(10);
    expect(await tenSteps(20)).toBeLessThan(first - 0.2);
    await site.page.getByText('after 20 steps').waitFor();
    await site.page.getByRole('button', { name: 'Continue' }).click();
    await site.page.locator('.train-sample strong', { hasText: /./ }).waitFor();
    // A field that is emptied stays empty.
    await site.page.getByLabel('Begin with').fill('');
    expect(await site.page.getByLabel('Begin with').inputValue()).toBe('');
    expect(await site.page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true);
    await site.page.getByRole('button', { name: 'Start over' }).click();
    await tenSteps(10);
    await site.page.getByText('Same seed, same curve: all 10 steps').waitFor();
    // Neither another seed, nor another chapter, nor reloading ends the run.
    await site.page.getByRole('slider', { name: 'Seed' }).fill('7');
    await site.page.getByText('The run below keeps the settings').waitFor();
    expect(await stat('Step')).toBe('10');
    await site.page.evaluate(`location.hash = '#/machine'`);
    await site.page.locator('.cm-content').waitFor();
    await site.page.goBack();
    await site.page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await stat('Step')).toBe('10');
    await site.page.reload();
    await site.page.getByText('This browser has saved a run of 10 steps').waitFor();
    expect(await stat('One step')).toBe('–');
    await tenSteps(20);
    expect(await brokenRules(site.page)).toEqual([]);
  });
});
