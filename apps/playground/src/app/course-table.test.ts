import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { answers } from '../exercises/quiz/answers.ts';
import { languages } from '../text/languages.ts';
import { chapters } from './chapters.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');
const [, table = ''] = readme.split('## What the page teaches');

/**
 * Rows of the table of the course, without the table's header: what is taught, where, and how it is checked.
 */
const rows = table
  .split('\n')
  .filter(line => line.startsWith('| ') && !/^\| (course|\*\*)/.test(line))
  .map(line => line.slice(2, -2).split(' | '));

/** Words between two marks of a cell, such as `code` or *emphasis*. */
const between = (mark: string, cell: string): string[] =>
  [...cell.matchAll(new RegExp(`\\${mark}([^${mark}]+)\\${mark}`, 'g'))].map(([, words = '']) => words);

/** Every text of a catalogue; for a text that depends on numbers, its source code. */
function texts(node: unknown): string[] {
  if (typeof node === 'object' && node !== null) return Object.values(node).flatMap(texts);
  return [String(node)];
}

describe('the table of what the page teaches', () => {
  it('has a place and a check in each row', () => {
    expect(rows.length).toBeGreaterThan(50);
    for (const row of rows)
      expect(
        row.filter(cell => cell.trim() !== ''),
        row.join(),
      ).toHaveLength(3);
  });

  it('names chapters and quizzes that exist', () => {
    const known = new Set([...chapters.map(({ id }) => id as string), ...Object.keys(answers)]);
    for (const [what = '', place = ''] of rows)
      for (const name of between('`', place)) expect(known, `${what}: ${name}`).toContain(name);
  });

  it('names sections by the words of the English catalogue', async () => {
    const { load, first, chapters: own } = languages.en;
    const parts = await Promise.all(Object.values(own).map(loadChapter => loadChapter()));
    const said = texts([await load(), await first(), parts]);
    for (const [what = '', place = ''] of rows)
      for (const title of between('*', place))
        expect(
          said.some(words => words.startsWith(title)),
          `${what}: ${title}`,
        ).toBe(true);
  });

  it('names tests that exist', () => {
    const files = readdirSync(`${root}/src`, { recursive: true }).map(path => `/${path}`);
    for (const [what = '', , check = ''] of rows)
      for (const name of between('`', check).filter(path => path.endsWith('.test.ts')))
        expect(
          files.filter(file => file.endsWith(`/${name}`)),
          `${what}: ${name}`,
        ).toHaveLength(1);
  });
});
