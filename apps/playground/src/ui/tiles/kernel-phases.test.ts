import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { momentsOf, partsOf, phases } from './kernel-phases.ts';

const source = readFileSync(
  new URL('../../../../../packages/webgpu/wgsl/forward.wgsl', import.meta.url),
  'utf8',
);

it('finds every phase in the kernel that the library makes, in order and without losing a line', () => {
  const parts = partsOf(source);
  expect(parts.map(({ phase }) => phase)).toEqual([null, ...phases]);
  expect(parts.map(({ text }) => text).join('\n')).toBe(source.slice(source.indexOf('@compute')));
});

it('walks through the loop once for each tile of keys', () => {
  const moments = momentsOf(4);
  expect(moments.filter(({ phase }) => phase === 'scores').map(({ j }) => j)).toEqual([0, 1, 2, 3]);
  expect(moments.at(0)).toEqual({ phase: 'tile', j: null });
  expect(moments.at(-1)).toEqual({ phase: 'store', j: null });
});
