import { expect, test } from 'vitest';
import { descriptionOf, socialCard } from './page-head.ts';

test('a description is the first sentences of the text, without headings, code and links', () => {
  const page = [
    '---\noutline: 2\n---\n# Plans',
    '```ts\nplan();\n```',
    'A [plan](plans.md) **encodes** `sdpa` into\nyour pass. It allocates nothing.',
    'More text.',
  ].join('\n\n');
  expect(descriptionOf(page)).toBe('A plan encodes sdpa into your pass. It allocates nothing.');
});

test('a description ends with a sentence', () => {
  const sentence = `A${' word'.repeat(30)}.`;
  expect(descriptionOf(`${sentence} ${sentence}`)).toBe(sentence);
  expect(descriptionOf('# Nothing')).toBe('');
});

test('only a site with an address has pictures for previews', () => {
  const page = { title: 'Plans', description: 'A plan.' };
  const images = (homepage?: string) =>
    socialCard(page, homepage)
      .filter(([, { property }]) => property === 'og:image')
      .map(([, { content }]) => content);
  expect(images()).toEqual([]);
  expect(images('https://example.org/')).toEqual(['https://example.org/playground/og/home.jpg']);
});
