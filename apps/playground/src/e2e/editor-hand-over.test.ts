import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

type Page = Site['page'];

const program = ['LOAD a[0][0], R0', 'LOAD b[0][0], R1', 'MAC_Z R0, R1, R2', 'STORE R2, c[0][0]'].join('\n');

let page: Page;
/** Lets the editor's script through. */
let release: () => void;
beforeEach(async () => {
  const context = await site.browser.newContext({ locale: 'en', serviceWorkers: 'block' });
  page = await context.newPage();
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route(/CodeEditor/, async route => {
    await released;
    await route.continue();
  });
  await page.goto(`${site.address}#/machine`);
  await page.locator('.plain-editor').click();
  return () => context.close();
});

const written = async (): Promise<string> => (await page.locator('.cm-line').allTextContents()).join('\n');

/** Waits until the editor's script is there and has had time to replace the field. */
async function editorArrives(): Promise<void> {
  const response = page.waitForResponse(/CodeEditor.*\.js/);
  release();
  await (await response).finished();
  await page.waitForTimeout(300);
}

describe('a visitor who types while the editor takes the place of the plain field', () => {
  it.each([0, 18, 46])('finds every key where it was typed, the editor coming after key %i', async after => {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    for (const [n, key] of [...program].entries()) {
      if (n === after) release();
      // Completions would consume Enter.
      if (key === '\n') await page.keyboard.press('Escape');
      await page.keyboard.press(key === '\n' ? 'Enter' : key);
    }
    await page.locator('.cm-content:focus').waitFor();
    expect(await written()).toBe(program);
  });

  it('keeps the field while a key is down, and writes that key once', async () => {
    await page.keyboard.type('LOA');
    const session = await page.context().newCDPSession(page);
    const key = { key: 'D', code: 'KeyD', windowsVirtualKeyCode: 68 };
    await session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key });
    await editorArrives();
    await page.locator('.plain-editor:focus').waitFor();
    await session.send('Input.dispatchKeyEvent', { type: 'char', ...key, text: 'D' });
    await session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
    await page.locator('.cm-content:focus').waitFor();
    await page.keyboard.type(' a');
    expect(await written()).toBe('LOAD a');
  });

  it('composes a word to its end in the field', async () => {
    const session = await page.context().newCDPSession(page);
    await session.send('Input.imeSetComposition', { text: 'か', selectionStart: 1, selectionEnd: 1 });
    await editorArrives();
    await session.send('Input.imeSetComposition', { text: 'かな', selectionStart: 2, selectionEnd: 2 });
    await session.send('Input.insertText', { text: '仮名' });
    await page.locator('.cm-content:focus').waitFor();
    expect(await written()).toBe('仮名');
  });

  it('keeps the selection', async () => {
    await page.keyboard.type('LOAD x');
    for (let n = 0; n < 4; n++) await page.keyboard.press('Shift+ArrowLeft');
    await editorArrives();
    await page.locator('.cm-content:focus').waitFor();
    await page.keyboard.type('-');
    expect(await written()).toBe('LO-');
  });
});
