import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chapters } from './chapters.ts';

test('the documentation has the page that each chapter links to', () => {
  const page = (name: string): URL => new URL(`../../../../docs/${name}.md`, import.meta.url);
  expect(chapters.filter(({ docs }) => !existsSync(page(docs))).map(({ id }) => id)).toEqual([]);
});
