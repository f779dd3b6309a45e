import { readFileSync } from 'node:fs';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readRecipe, TreeCopy } from './recipe.ts';

const page = readFileSync(new URL('../extending.md', import.meta.url), 'utf8');

beforeAll(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

test.each([
  ['A mask', 8],
  ['An operation', 2],
])(
  'the recipe "%s" changes at most %i source files, compiles and works',
  {
    timeout: 120_000,
  },
  async (heading, most) => {
    const recipe = readRecipe(page, heading);
    expect(recipe.files.length, recipe.files.join('\n')).toBeLessThanOrEqual(most);
    const copy = new TreeCopy();
    try {
      await expect(copy.run(recipe.check)).rejects.toThrow();
      copy.apply(recipe);
      expect(await copy.typeCheck()).toBe('');
      await copy.run(recipe.check);
    } finally {
      copy.remove();
    }
  },
);
