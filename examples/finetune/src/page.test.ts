import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuEngine } from '@tilewise/core/cpu';
import { givenFiles, loadAdapter, loadModel } from '@tilewise/nn';
import { writeFolder } from '@tilewise/nn/checkpoint';
import { type BrowserHost, openBrowser } from '@tilewise/webgpu-host/browser';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tinyCheckpoint, tinyText } from '../testing/tiny-checkpoint.ts';

const contents = tinyCheckpoint();
const folder = mkdtempSync(join(tmpdir(), 'tilewise-finetune-'));
let host: BrowserHost;

beforeAll(async () => {
  await writeFolder(join(folder, 'model'), contents);
  await writeFolder(folder, { 'text.txt': tinyText });
  host = await openBrowser(await scriptsOfPage());
  const html = readFileSync(new URL('../index.html', import.meta.url), 'utf8');
  await host.page.setContent(html.replace('/src/page.ts', '/page.js'));
  await host.page.waitForFunction(() => document.body.dataset.ready === 'true');
}, 120_000);

afterAll(async () => {
  await host?.close();
  rmSync(folder, { recursive: true });
});

/** The page's script and the chunks that it loads, by path. */
async function scriptsOfPage(): Promise<Record<string, string>> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const built = await build({
    ...{ root, configFile: false, logLevel: 'silent' },
    resolve: { conditions: ['@tilewise/source', 'module', 'browser', 'import', 'default'] },
    worker: { format: 'es' },
    build: {
      ...{ write: false, target: 'es2022', minify: false },
      rollupOptions: { input: join(root, 'src/page.ts'), output: { entryFileNames: 'page.js' } },
    },
  });
  const [{ output }] = [built].flat() as { output: { fileName: string; code?: string; source?: string }[] }[];
  // The script of the worker is an asset, whose text is its source.
  return Object.fromEntries(
    output.map(({ fileName, code, source }) => [`/${fileName}`, code ?? source ?? '']),
  );
}

test('the page trains an adapter on a folder and a text, and gives its files', async () => {
  const { page } = host;
  await page.click('#start');
  await expect.poll(() => page.textContent('#log')).toContain('Choose the folder of a model');

  await page.setInputFiles('#model', join(folder, 'model'));
  await page.setInputFiles('#text', join(folder, 'text.txt'));
  await page.fill('#steps', '12');
  await page.click('#start');
  expect(await page.isDisabled('#start')).toBe(true);
  await page.waitForFunction(() => document.querySelectorAll('#files a').length === 2, undefined, {
    timeout: 200_000,
  });
  const log = (await page.textContent('#log')) ?? '';
  expect(log).toMatch(/Loading the model, for training on (WebGPU|the CPU)/);
  const bar = page.locator('#bar');
  expect(await bar.evaluate((element: HTMLProgressElement) => element.value / element.max)).toBe(1);
  expect(await page.isVisible('#reading')).toBe(false);
  expect(log).toMatch(/before: the cat sat on/);
  expect(log).toMatch(/after: the cat sat on/);
  const losses = [...log.matchAll(/step \d+ {2}loss (\S+)/g)].map(([, loss]) => Number(loss));
  expect(losses).toHaveLength(12);
  expect(losses[11]).toBeLessThan(losses[0]);
  await expect.poll(() => page.isDisabled('#start')).toBe(false);

  const files = await page.evaluate(async () => {
    const links = [...document.querySelectorAll<HTMLAnchorElement>('#files a')];
    return Promise.all(
      links.map(async ({ href, download }) => {
        const bytes = new Uint8Array(await (await fetch(href)).arrayBuffer());
        return { download, bytes: [...bytes] };
      }),
    );
  });
  expect(files.map(({ download }) => download)).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  const engine = cpuEngine({ threads: 1 });
  const given = (all: Record<string, BlobPart>) =>
    givenFiles(Object.entries(all).map(([name, part]) => new File([part], name)));
  const model = await loadModel(given(contents), { engine });
  const parts = files.map(({ download, bytes }) => [download, Uint8Array.from(bytes)]);
  model.adapter = await loadAdapter(given(Object.fromEntries(parts)), model.layers.linear, engine);
  // B is 0 before training.
  const [, b] = Object.entries(model.adapter.tensors).find(([name]) => name.includes('lora_B')) ?? [];
  expect(b?.toFloat32().some(x => x !== 0)).toBe(true);
  model.release();
}, 240_000);

test('a run that is stopped says so, and the page can start another', async () => {
  const { page } = host;
  expect(await page.isDisabled('#stop')).toBe(true);
  await page.fill('#steps', '1000');
  await page.click('#start');
  await page.click('#stop');
  await expect
    .poll(() => page.textContent('#log'), { timeout: 60_000 })
    .toContain('Stopped: this run made no');
  expect(await page.isDisabled('#start')).toBe(false);
}, 90_000);
