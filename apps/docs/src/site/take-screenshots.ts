import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openBrowser } from '@tilewise/webgpu-host/browser';
import { serveFolder } from './serve.ts';

const pages = [
  'index',
  'why',
  'start/index',
  'start/own-device',
  'start/porting',
  'guide/attention/reproducibility',
  'internals/kernels',
  'api/webgpu',
  'comparison',
  'runtimes',
  'limits',
];
const looks = [
  { name: 'light', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'dark', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'phone', colorScheme: 'light', width: 390, height: 844 },
  { name: 'phone-dark', colorScheme: 'dark', width: 390, height: 844 },
] as const;

/** Takes pictures of some pages of the built site, wide and narrow, light and dark, into `screenshots/`. */
const folder = fileURLToPath(new URL('../../screenshots/', import.meta.url));
mkdirSync(folder, { recursive: true });
const server = await serveFolder(fileURLToPath(new URL('../../dist', import.meta.url)), '/some/path/');
const { page, close } = await openBrowser();
for (const { name, colorScheme, width, height } of looks) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height });
  for (const one of pages) {
    await page.goto(`${server.address}${one}.html`);
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: `${folder}${one.replaceAll('/', '-')}-${name}.png` });
  }
}
await close();
server.close();
