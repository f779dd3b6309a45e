import { expect, it } from 'vitest';
import { withWords } from './formula-words.ts';

it('translates the words of a formula, and leaves names as they are', () => {
  expect(withWords('dO \\quad \\text{given}, n/\\text{TILE}', { given: 'gegeben' })).toBe(
    'dO \\quad \\text{gegeben}, n/\\text{TILE}',
  );
});
