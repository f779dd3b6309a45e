import { expect, test } from 'vitest';
import { changesetTitle, titleFaults } from './titles.mjs';

test.each([
  'Add masks with operands of their own',
  'Sort the graph package into rooms without import cycles',
  'Bring back the smaller bundle',
  'Re-export the reference',
])('%s is a good title', title => {
  expect(titleFaults(title)).toEqual([]);
});

test.each([
  ['Added masks', 'imperative'],
  ['Adds masks', 'imperative'],
  ['Adding masks', 'imperative'],
  ['The masks are right', 'imperative'],
  ['What is known of kernels', 'imperative'],
  ['WebGPU: faster masks', 'imperative'],
  ['add masks', 'capital'],
  ['Add masks.', 'full stop'],
  [`Add ${'x'.repeat(69)}`, 'has 73 characters (at most 72)'],
])('%s is not', (title, fault) => {
  expect(titleFaults(title).join('; ')).toContain(fault);
});

test('the title of a changeset is its first line behind the front matter', () => {
  expect(changesetTitle("---\n'@tilewise/core': minor\n---\n\nAdd masks\n\nThey have operands.\n")).toBe(
    'Add masks',
  );
});
