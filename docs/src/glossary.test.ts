import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const terms = readFileSync(new URL('../glossary.md', import.meta.url), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('- '));

test('each line of the glossary is a term in bold and what it means', () => {
  expect(terms.filter(line => !/^- \*\*[^*]+\*\*: \S.*\.$/.test(line))).toEqual([]);
});

test('the glossary is alphabetical', () => {
  const names = terms.map(line => line.slice(4, line.indexOf('**', 4)).toLowerCase());
  expect(names).toEqual([...names].sort());
});
