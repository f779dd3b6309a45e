import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { basePlaceholder, makeRelative } from './relative-base.ts';

let site: string;
const pages = ['index.html', '404.html', 'guide/attention/heads.html'];

beforeEach(() => {
  site = mkdtempSync(join(tmpdir(), 'site-'));
  mkdirSync(join(site, 'guide/attention'), { recursive: true });
  for (const page of pages)
    writeFileSync(join(site, page), `<head></head><a href="${basePlaceholder}start/index.html">Start</a>`);
});
afterEach(() => {
  rmSync(site, { recursive: true });
});

/** The link of each page, and the place of the site that the page records. */
const linksOf = (): (string | undefined)[][] =>
  pages.map(page => {
    const html = readFileSync(join(site, page), 'utf8');
    return [/href="([^"]*)"/, /new URL\("([^"]*)"/].map(pattern => pattern.exec(html)?.[1]);
  });

test('links are relative to their page', () => {
  makeRelative(site);
  expect(linksOf()).toEqual([
    ['./start/index.html', './'],
    ['./start/index.html', './'],
    ['../../start/index.html', '../../'],
  ]);
});

test('the page for unknown addresses finds the site from any address', () => {
  makeRelative(site, 'https://example.org/tilewise');
  expect(linksOf()[1]).toEqual(['/tilewise/start/index.html', '/tilewise/']);
  expect(linksOf()[2]).toEqual(['../../start/index.html', '../../']);
});

test('a homepage may be the root of its host', () => {
  makeRelative(site, 'https://example.org');
  expect(linksOf()[1]).toEqual(['/start/index.html', '/']);
});
