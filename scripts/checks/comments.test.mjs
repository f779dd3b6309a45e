import { expect, test } from 'vitest';
import { wideComments, wrapComments } from './comments.mjs';

const words = count => Array.from({ length: count }, (_, n) => `word${n % 10}`).join(' ');
const long = words(30);

test('comments above the width are found, in each form', () => {
  expect(wideComments(`// ${long}`)).toEqual([1]);
  expect(wideComments(`const a = 1;\n/** ${long} */`)).toEqual([2]);
  expect(wideComments(`/**\n * ${long}\n */`)).toEqual([2]);
  expect(wideComments(`const a = 1; // ${long}`)).toEqual([1]);
});

test('code, strings, single long words and comments of 110 columns are not', () => {
  expect(wideComments(`const a = '${long}';`)).toEqual([]);
  expect(wideComments(`const a = '// ${long}';`)).toEqual([]);
  expect(wideComments(`// https://${'x'.repeat(120)}`)).toEqual([]);
  expect(wideComments(`// ${'x '.repeat(53)}x`)).toEqual([]);
  expect(wideComments(`// ${'x '.repeat(54)}x`)).toEqual([1]);
});

test('a wrapped comment has the same words in lines that fit', () => {
  for (const text of [`// ${long}`, `  /** ${long} */`, `/**\n * ${long}\n * more\n */`]) {
    const wrapped = wrapComments(text);
    expect(wideComments(wrapped)).toEqual([]);
    expect(wrapped.match(/\w+/g)).toEqual(text.match(/\w+/g));
  }
});

test('a link stays in one line', () => {
  const wrapped = wrapComments(`// ${'x '.repeat(48)}{@link theNameOfAFunction}, ${words(5)}`);
  expect(wrapped).toContain('{@link theNameOfAFunction},');
});

test('paragraphs, lists, tags and code keep their lines', () => {
  const text = `/**\n * ${long}\n *\n * Short.\n * - an item\n * @throws Error\n *     code ${words(3)}\n */`;
  const wrapped = wrapComments(text).split('\n');
  expect(wrapped.slice(-6)).toEqual([
    ' *',
    ' * Short.',
    ' * - an item',
    ' * @throws Error',
    ` *     code ${words(3)}`,
    ' */',
  ]);
});

test('a comment behind code moves above it, and code stays as it is', () => {
  expect(wrapComments(`  f(1); // ${words(17)}`)).toBe(`  // ${words(17)}\n  f(1);`);
  expect(wrapComments(`const a = '${long}';`)).toBe(`const a = '${long}';`);
});
