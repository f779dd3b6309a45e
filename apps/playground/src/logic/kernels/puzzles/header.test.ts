import { expect, it } from 'vitest';
import { countReads, headerOf } from './header.ts';
import { puzzleOf } from './puzzles.ts';

it('counts every read of an array, even inside the index of another, and changes nothing else', () => {
  const program = ['let a = k[i]; // k[j]', 'o[e] = s.k[0] + v[u32(x[j])] + k_tile[k [2]];'].join('\n');
  expect(countReads(program, ['k', 'v'])).toBe(
    [
      'let a = k[counted_k(u32(i))]; // k[j]',
      'o[e] = s.k[0] + v[counted_v(u32(u32(x[j])))] + k_tile[k [counted_k(u32(2))]];',
    ].join('\n'),
  );
});

it('binds inputs before outputs, and names the form of each', () => {
  const header = headerOf(puzzleOf('dq'), 8);
  expect(header).toContain('const D = 8u;');
  expect(header).toContain('@binding(5) var<storage, read> stats: array<vec2f>; // lse, delta');
  expect(header).toContain('@binding(6) var<storage, read_write> dq: array<f32>; // n × D');
});
