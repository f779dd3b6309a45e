import { expect, test } from 'vitest';
import { findLoop, markLoops, parseListing, workOfIteration } from './listing.ts';

const wgsl = `for (var j0 = first; j0 < last; j0 += 32u) {
  for (var d0 = 0u; d0 < channels; d0 += 16u) {
    sum += a[d0] * b[d0];
  }
  for (var k = 0u; k < 8u; k++) {
    sum += weighted(w[k], x[k]);
  }
}`;

test('each loop is marked by its own number, with its number of iterations', () => {
  const { wgsl: marked, loops } = markLoops(wgsl, { channels: 64 });
  expect(loops.map(({ variable, iterations }) => [variable, iterations])).toEqual([
    ['j0', 1],
    ['d0', 4],
    ['k', 0],
  ]);
  for (const { variable, mark } of loops) expect(marked).toContain(`if (${variable} == ${mark}u)`);
});

const [tiles, chunks] = markLoops(wgsl, { channels: 64 }).loops.map(({ mark }) => mark);
const hex = (mark: number): string => `0x${mark.toString(16)}`;
const listing = `After lowering to hw instructions:
ACO shader stage: SW (CS), HW (COMPUTE_SHADER)
BB0
/* logical preds: / linear preds: / kind: uniform, top-level, */
	(100 clk)   v0 = buffer_load_dword s[0-3], v1
BB1
/* logical preds: BB0, BB3, / linear preds: BB0, BB3, / kind: uniform, loop-header, */
	(  1 clk)   scc = s_cmp_eq_i32 s1, ${hex(tiles)}
	(  1 clk)   s_barrier
BB2
/* logical preds: BB1, BB2, / linear preds: BB1, BB2, / kind: uniform, loop-header, */
	(  1 clk)   scc = s_cmp_eq_i32 s2, ${hex(chunks)}
	( 20 clk)   s_waitcnt lgkmcnt(0)
	(  2 clk)   v2 = v_fmac_f32 v0, v1, v2
	(  1 clk)   v3 = v_dual_fmac_f32 v0, v1, v3 :: v4 = v_dual_fmac_f32 v0, v1, v4
BB3
/* logical preds: BB2, / linear preds: BB2, / kind: uniform, */
	(  3 clk)   v5 = v_add_f32 v2, v3
disasm:
`;

test('the work of a loop includes the iterations of the loops inside it', () => {
  const loop = findLoop(parseListing(listing), tiles);
  expect(loop && workOfIteration(loop, new Map([[chunks, 4]]))).toEqual({
    busy: 1 + 1 + 3 + 4 * (1 + 2 + 1),
    waiting: 4 * 20,
    multiplyAdds: 4 * 3,
    reads: 0,
    barriers: 1,
  });
});

test('a loop without a mark, and output without a listing, are errors', () => {
  const loop = findLoop(parseListing(listing), tiles);
  expect(() => loop && workOfIteration(loop, new Map())).toThrow('no mark');
  expect(() => parseListing('SPIR-V')).toThrow('Mesa did not print a listing');
});
