import { readdirSync, readFileSync } from 'node:fs';
import { readmeExamples } from '@tilewise/readme-examples';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const guide = new URL('../guide/', import.meta.url);
const pages = readdirSync(guide).filter(page => page.endsWith('.md') && page !== 'README.md');

beforeAll(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

test('the index of the guide names every page', () => {
  const index = readFileSync(new URL('README.md', guide), 'utf8');
  const named = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, page]) => page);
  expect([...named].sort()).toEqual([...pages].sort());
});

const examples = pages.flatMap(page => {
  const { examples, run } = readmeExamples(new URL(page, guide));
  return examples.map((code, n) => ({ page, number: n + 1, code, run }));
});

test.each(examples)('guide/$page: example $number runs', async ({ code, run }) => {
  await run(code);
});
