import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { solutionOf, starterOf } from '../logic/kernels/puzzles/programs.ts';
import { kernels } from '../text/en/learn/kernels.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

/** Opens a puzzle and waits for its editor. */
async function open(puzzle: string): Promise<void> {
  await site.visit(`?lang=en#/kernels?puzzle=${puzzle}`);
  await site.page.locator('.cm-content').waitFor();
}

/** Puts a program into the editor in place of the one that is there. */
async function write(program: string): Promise<void> {
  await site.page.locator('.cm-content').click();
  await site.page.keyboard.press('Control+a');
  await site.page.keyboard.insertText(program);
}

const run = (): Promise<void> => site.page.getByRole('button', { name: 'Run', exact: true }).click();

const told = (words: string | RegExp): Promise<void> =>
  site.page.locator('.kernel-side').getByText(words).first().waitFor();

beforeEach(() => site.page.setViewportSize({ width: 1440, height: 900 }));

describe('a visitor who writes kernels', () => {
  it('is told the input, the place and the reason of a wrong result, then solves it by the keyboard', async () => {
    await open('naive');
    await run();
    await told(/^Wrong on plain numbers \(n = 64\)\./);
    await write(solutionOf('naive').replace(' * sizes.scale', ''));
    await told('You have changed the program since this run.');
    await site.page.keyboard.press('Control+Enter');
    await told(/These are the results without the scale/);
    await write(solutionOf('naive'));
    await site.page.keyboard.press('Control+Enter');
    await told('Right on all 7 hidden inputs.');
    await told(/^Largest error .* at o\[\d+\]\[\d+\]/);
    await site.page.getByText('1 Naive ✓').waitFor();
  });

  it('sees the compiler’s error at its line, and in the editor', async () => {
    await open('delta');
    await write(solutionOf('delta').replace('sum += dO', 'sum += missing'));
    await run();
    await told('The program does not compile.');
    await told(/^Line 7: unresolved value 'missing'/);
    await site.page.locator('.cm-lintRange-error', { hasText: 'missing' }).waitFor();
  });

  it('is told that a right kernel reads too much, and copies the solution', async () => {
    await open('causal-skip');
    await write(solutionOf('causal-skip').replace('(group.x + 1u) * TILE', 'sizes.n'));
    await run();
    await told(kernels.tooSlow);
    await told('16 tiles of k read, 10 are enough');
    for (const hint of [1, 2, 3])
      await site.page.getByRole('button', { name: `Show hint ${hint} of 3` }).click();
    await site.page.getByRole('button', { name: 'Show a solution' }).click();
    await site.page.getByRole('button', { name: 'Put this program into the editor' }).click();
    await run();
    await told('Right on all 7 hidden inputs.');
    await told(/^n = 256, on .*, by the/);
  });

  it('finds each program again, and begins again with the starter', async () => {
    await open('delta');
    await write('// mine');
    await site.page.getByText('7 dQ', { exact: true }).click();
    await site.page.locator('.cm-line', { hasText: 'One workgroup computes a tile of dq' }).waitFor();
    await site.page.getByText('6 Delta', { exact: true }).click();
    await site.page.locator('.cm-line', { hasText: '// mine' }).waitFor();
    await site.page.reload();
    await site.page.locator('.cm-line', { hasText: '// mine' }).waitFor();
    await site.page.getByRole('button', { name: 'Start over' }).click();
    const [first = ''] = starterOf('delta').split('\n');
    await site.page.locator('.cm-line', { hasText: first }).waitFor();
    await site.page.getByRole('button', { name: 'Restore the replaced program' }).click();
    await site.page.locator('.cm-line', { hasText: '// mine' }).waitFor();
  });

  it('continues on a new device after the device was lost', async () => {
    await site.page.addInitScript(`{
      const open = GPUAdapter.prototype.requestDevice;
      GPUAdapter.prototype.requestDevice = async function (...args) {
        return (window.device = await open.apply(this, args));
      };
      const compile = GPUDevice.prototype.createComputePipelineAsync;
      GPUDevice.prototype.createComputePipelineAsync = async function (...args) {
        if (window.lose) { window.lose = false; this.destroy(); }
        return compile.apply(this, args);
      };
    }`);
    await open('delta');
    await site.page.evaluate('window.lose = true');
    await write(solutionOf('delta'));
    await run();
    await told(/^The device was lost\./);
    await run();
    await told('Right on all 7 hidden inputs.');
  });

  it('reads why nothing runs without WebGPU, and can write', async () => {
    const context = await site.browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    await page.addInitScript('delete Navigator.prototype.gpu;');
    await page.goto(`${site.address}#/kernels`);
    await page.getByText('This browser has no WebGPU, so nothing can run here.').waitFor();
    await context.close();
  });

  it('has the task, the editor and the verdict on one screen of 1440 × 900', async () => {
    await open('dkv');
    await write(solutionOf('dkv'));
    await run();
    await told('Right on all 7 hidden inputs.');
    const parts = ['#exercise-title', '.kernel-task', '.kernel-editor', '.kernel-side', '.solved'];
    const boxes = await Promise.all(parts.map(part => site.page.locator(part).first().boundingBox()));
    const top = Math.min(...boxes.map(box => box?.y ?? 0));
    const bottom = Math.max(...boxes.map(box => (box ? box.y + box.height : Number.POSITIVE_INFINITY)));
    // The header takes 56 pixels of the window.
    expect(bottom - top).toBeLessThan(900 - 56);
  });
});
