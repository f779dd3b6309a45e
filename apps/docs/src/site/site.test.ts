import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BrowserHost, openBrowser } from '@tilewise/webgpu-host/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesIn } from './relative-base.ts';
import { type StaticServer, serveFolder } from './serve.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const site = join(root, 'node_modules', '.site-test');
let server: StaticServer;
let host: BrowserHost;
const errors: string[] = [];

beforeAll(async () => {
  const vitepress = join(
    dirname(createRequire(import.meta.url).resolve('vitepress/package.json')),
    'bin',
    'vitepress.js',
  );
  // A test runner sets NODE_ENV to 'test', which would select Vue's development build.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vitepress, 'build', root, '--outDir', site], { env });
  server = await serveFolder(site, '/some/path/');
  host = await openBrowser();
  host.page.on('pageerror', error => errors.push(error.message));
  host.page.on('console', message => {
    if (message.type() === 'error') errors.push(message.text());
  });
}, 300_000);
afterAll(async () => {
  await host?.close();
  server?.close();
  rmSync(site, { recursive: true, force: true });
});

const pages = (): string[] => filesIn(site).filter(file => file.endsWith('.html'));

test('no page is wider than a phone, and no table is wider than its column on a laptop', async () => {
  const wide: string[] = [];
  for (const [width, selector] of [
    [390, 'html'],
    [1280, '.vp-doc table'],
  ] as const) {
    await host.page.setViewportSize({ width, height: 900 });
    for (const page of pages()) {
      await host.page.goto(`${server.address}${relative(site, page)}`);
      const widest = await host.page.evaluate(
        `Math.max(0, ...[...document.querySelectorAll('${selector}')].map(e => e.scrollWidth - e.clientWidth))`,
      );
      if (Number(widest) > 0) wide.push(`${relative(site, page)} at ${width}: ${widest}`);
    }
  }
  await host.page.setViewportSize({ width: 1280, height: 720 });
  expect(wide).toEqual([]);
}, 240_000);

test('on a phone, a name in the first column of a table breaks only between its words', async () => {
  const broken: string[] = [];
  await host.page.setViewportSize({ width: 390, height: 844 });
  for (const page of pages()) {
    await host.page.goto(`${server.address}${relative(site, page)}`);
    const parts = (await host.page.evaluate(`{
      const isBroken = text => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return /^\\w+$/.test(text.data) && range.getClientRects().length > 1;
      };
      [...document.querySelectorAll('.vp-doc td:first-child code')]
        .flatMap(code => [...code.childNodes].filter(node => node.nodeType === 3 && isBroken(node)))
        .map(text => text.data) }`)) as string[];
    broken.push(...parts.map(part => `${relative(site, page)}: ${part}`));
  }
  await host.page.setViewportSize({ width: 1280, height: 720 });
  expect(broken).toEqual([]);
}, 240_000);

test.each(['no-preference', 'reduce'] as const)(
  'on a phone, a table fades only at the edge beyond which it continues (motion: %s)',
  async motion => {
    const { page } = host;
    await page.emulateMedia({ reducedMotion: motion });
    await page.setViewportSize({ width: 390, height: 844 });
    const fades = () =>
      page.evaluate(`{
      const style = getComputedStyle(document.querySelector('.vp-doc table'));
      ['--fade-start', '--fade-end'].map(name => style.getPropertyValue(name)) }`);
    await page.goto(`${server.address}comparison.html`);
    // The browser applies scroll-driven animations with a later frame.
    await expect.poll(fades).toEqual(['0px', '40px']);
    await page.evaluate(`document.querySelector('.vp-doc table').scrollLeft = 10000`);
    await expect.poll(fades).toEqual(['40px', '0px']);
    await page.goto(`${server.address}guide/attention/conventions.html`);
    expect(await fades()).toEqual(['0px', '0px']);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ reducedMotion: null });
  },
);

test('text and code have enough contrast in both themes', async () => {
  const { page } = host;
  const faint: unknown[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const name of ['index', 'start/training', 'guide/graphs/pytorch', 'api/graph-onnx']) {
      await page.goto(`${server.address}${name}.html`);
      await page.evaluate(axe);
      const nodes = await page.evaluate(
        `axe.run({ runOnly: ['color-contrast'] }).then(({ violations }) =>
          violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))`,
      );
      faint.push(...(nodes as unknown[]).map(html => `${name}, ${colorScheme}: ${html}`));
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(faint).toEqual([]);
}, 120_000);

test('the target of every link and anchor of every page exists', () => {
  const anchors = new Map(
    pages().map(page => [
      page,
      new Set([...readFileSync(page, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  const dead = pages().flatMap(page =>
    [...readFileSync(page, 'utf8').matchAll(/ (?:href|src)="([^"]+)"/g)]
      .map(([, link]) => link.replaceAll('&amp;', '&'))
      .filter(link => !/^(?:[a-z]+:|\/\/)/.test(link) && !link.includes('playground/'))
      .filter(link => {
        const [path, anchor] = link.split('#');
        const target = path === '' ? page : resolve(dirname(page), path);
        const file =
          existsSync(target) && statSync(target).isDirectory() ? join(target, 'index.html') : target;
        return (
          !existsSync(file) ||
          (anchor && anchors.has(file) && !anchors.get(file)?.has(decodeURIComponent(anchor)))
        );
      })
      .map(link => `${relative(site, page)}: ${link}`),
  );
  expect(dead).toEqual([]);
  expect(pages().length).toBeGreaterThan(50);
});

test('every page has a title and a description of its own, for search engines and previews', () => {
  const heads = pages()
    .filter(page => !page.endsWith('404.html'))
    .map(page => {
      const html = readFileSync(page, 'utf8');
      const [title, description, card] = [
        /<title>([^<]*)/,
        /<meta name="description" content="([^"]*)/,
        /<meta property="og:description" content="([^"]*)/,
      ].map(pattern => pattern.exec(html)?.[1] ?? '');
      return { page: relative(site, page), title, description, card };
    });
  expect(heads.filter(({ description = '' }) => description.length < 25 || description.length > 320)).toEqual(
    [],
  );
  expect(heads.filter(({ description, card }) => description !== card)).toEqual([]);
  for (const part of ['title', 'description'] as const)
    expect(new Set(heads.map(head => head[part])).size).toBe(heads.length);
});

test('links to the playground lead to its chapters', () => {
  const source = readFileSync(join(root, '../playground/src/app/chapters.ts'), 'utf8');
  const chapters = [...source.matchAll(/ id: '([^']+)'/g)].map(([, id]) => `#/${id}`);
  const linked = pages().flatMap(page =>
    [...readFileSync(page, 'utf8').matchAll(/playground\/index\.html(#[^"]*)"/g)].map(([, anchor]) => anchor),
  );
  expect([...new Set(linked)].filter(anchor => !chapters.includes(anchor))).toEqual([]);
  expect(new Set(linked).size).toBeGreaterThan(7);
});

test('no page or script depends on the path that the site is served from', () => {
  const absolute = filesIn(site)
    .filter(file => /\.(html|js|css)$/.test(file))
    .filter(file => /(?:href|src)="\/(?!\/)|url\(\/|"\/assets\//.test(readFileSync(file, 'utf8')));
  expect(absolute.map(file => relative(site, file))).toEqual([]);
});

test('a page follows its links in the browser, and the search finds a page', async () => {
  const { page } = host;
  await page.goto(`${server.address}index.html`);
  await page.getByRole('link', { name: 'Start here' }).click();
  await page.waitForURL(`${server.address}start/**`);
  // The address changes before the page has loaded.
  await page.getByRole('heading', { level: 1, name: 'Choose your page' }).waitFor();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('paged cache');
  await page.locator('.VPLocalSearchBox .result').first().click();
  await page.waitForURL(`${server.address}guide/attention/decoding.html**`);
  expect(errors).toEqual([]);
});

test('the search leads from a name to the reference, and from a subject to its guide', async () => {
  const { page } = host;
  await page.goto(`${server.address}index.html`);
  await page.getByRole('button', { name: 'Search' }).click();
  const found = [
    ['planSdpaBackward', 'api/webgpu.html#plan_sdpa_backward'],
    ['saveAdapter', 'api/nn.html#save_adapter'],
    ['dropout', 'guide/attention/reproducibility.html'],
    ['onnx', 'guide/graphs/onnx.html'],
    ['lora', 'guide/models/generation-and-training.html#adapters'],
    ['paged', 'guide/attention/decoding.html#a-paged-cache'],
    ['license', 'support.html#license'],
    ['determinism', 'guide/attention/reproducibility.html'],
    ['neighbors', 'guide/webgpu/neighbours.html'],
  ] as const;
  for (const [words, place] of found) {
    await page.getByRole('searchbox').fill(words);
    const first = page.locator('.VPLocalSearchBox .result').first();
    await expect.poll(() => first.getAttribute('href'), { message: words }).toContain(`/some/path/${place}`);
  }
  expect(errors).toEqual([]);
});

test('live examples run in the page, also after edits, and log what their comments say', {
  timeout: 120_000,
}, async () => {
  const { page } = host;
  const live = pages().filter(file => readFileSync(file, 'utf8').includes('class="live"'));
  expect(live.length).toBeGreaterThan(3);
  for (const file of live) {
    await page.goto(`${server.address}${relative(site, file)}`);
    const example = page.locator('.live').first();
    await example.getByRole('button', { name: 'Run' }).click();
    await page
      .locator('.live[data-state=done], .live[data-state=failed]')
      .first()
      .waitFor({ timeout: 90_000 });
    const output = await example.locator('.live-output').textContent();
    expect(await example.getAttribute('data-state'), `${relative(site, file)}: ${output}`).toBe('done');
  }
  await page.goto(`${server.address}start/index.html`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Example code' }).fill("console.log('edited', 6 * 7);");
  await page.getByRole('button', { name: 'Run' }).click();
  await page.locator('.live[data-state=done]').waitFor();
  expect(await page.locator('.live-output').textContent()).toBe('edited 42');
  expect(errors).toEqual([]);
});
