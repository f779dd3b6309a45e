import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { firstEn } from '../text/en/first.ts';
import { openSite } from './site.ts';

/** A picture of the page: 6 × 6 tiles, some of them visited; which ones depends on the chapter. */
const tiles = (seed: number): string =>
  Array.from({ length: 36 }, (_, n) => {
    const [i, j] = [Math.floor(n / 6), n % 6];
    const state =
      i * 6 + j === (seed * 7) % 36 ? '#6d86f5' : i * 6 + j < (seed * 7) % 36 ? '#2b3566' : '#1d2233';
    return `<rect x="${j * 70}" y="${i * 70}" width="60" height="60" rx="12" fill="${state}"/>`;
  }).join('');

const { chapters, home, site } = firstEn;
const pages = [
  { id: 'home', title: home.heading, blurb: home.blurb },
  ...Object.entries(chapters).map(([id, { title, blurb }]) => ({ id, title, blurb })),
];

/** Draws the picture that other sites show beside a link to each chapter, into `public/og/`. */
async function takeImages(): Promise<void> {
  const folder = fileURLToPath(new URL('../../public/og/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const opened = await openSite();
  const { page } = opened;
  await page.setViewportSize({ width: 1200, height: 630 });
  await opened.visit('?lang=en#/');
  for (const [n, { id, title, blurb }] of pages.entries()) {
    await page.evaluate(
      `document.body.innerHTML = ${JSON.stringify(`<div style="position:fixed;inset:0;background:#12151f;color:#eef;display:grid;grid-template-columns:1fr 420px;gap:60px;padding:90px 80px;align-items:center;font-family:var(--font)">
        <div><div style="font:600 28px var(--font);color:#8fa2ff">Tilewise</div>
        <div style="font:680 64px/1.1 var(--font);margin:20px 0 28px">${title}</div>
        <div style="font:400 30px/1.4 var(--font);color:#b9c0d8">${blurb.split('. ')[0]}${blurb.includes('. ') ? '.' : ''}</div></div>
        <svg viewBox="0 0 420 420" width="420">${tiles(n + 2)}</svg></div>`)};`,
    );
    await page.screenshot({ path: `${folder}${id}.jpg`, type: 'jpeg', quality: 72 });
  }
  await opened.close();
  process.stdout.write(`${pages.length} pictures for ${site.title}\n`);
}

await takeImages();
