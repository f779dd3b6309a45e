import { describe, expect, test } from 'vitest';
import { tinyCase } from '../../../../testing/tiny-case.ts';
import { concreteCalls } from '../concrete/concrete.ts';
import { gflop } from '../concrete/gflop.ts';
import { scoreProgram } from '../tensors/score-programs.ts';
import { parseCase } from './case-format.ts';

const calls = (changes = {}) => concreteCalls(parseCase(tinyCase(changes)));

const tiny = tinyCase() as { readonly strides: object };

describe('a case is either read completely or rejected', () => {
  test.each([
    ['a field', { tile_size: 64 }, 'the field tile_size is not known to the runner'],
    ['a flag', { flags: { rotary: true } }, 'the flag rotary is not known to the runner'],
    [
      "a flag's value",
      { flags: { ragged: 'k,v' } },
      'the flag ragged has a value that the runner does not know: "k,v"',
    ],
    ['a page size', { flags: { paged: true, block_size: 0 } }, 'the flag block_size has a value'],
    [
      'a negative tolerance',
      { tol: { o: [-1, 0] } },
      'tol.o must be [absolute, relative], both ≥ 0, got [-1,0]',
    ],
    ['an operation', { op: 'sdpa_int8_fwd' }, 'there is no operation sdpa_int8_fwd'],
    ['a dtype', { dtype: 'fp4' }, 'dtype fp4 is not known'],
    ['a layout', { layout: 'hsbb', strides: undefined }, 'the layout hsbb is not known'],
    ['a layout of three for o', { layout: 'q,k,v bshd; o bs3hd', strides: undefined }, 'is not known'],
    ['a scale', { attn_scale: '2/d' }, 'attn_scale 2/d is not understood'],
    ['strides', { strides: { q: [1, 2, 3] } }, 'strides.q must be four integers, got [1,2,3]'],
    [
      'strides that share places',
      { strides: { ...tiny.strides, k: [0, 3331333, 10, 1] } },
      'strides.k give two elements the same offset',
    ],
    ['an error', { expect_error: {} }, 'expect_error must be { code, message }, got {}'],
    ['an extent', { s_q: -1 }, 's_q must be a number of entries, got -1'],
    ['a seed', { data_seed: 0.5 }, 'data_seed must be an integer of 64 bits, got 0.5'],
    [
      'lengths',
      { flags: { padding: true, seq_len_q: [1], seq_len_kv: [1, 2] } },
      'seq_len_q has 1 lengths for a batch of 2',
    ],
  ])('%s that is not known is an error', (_, changes, message) => {
    expect(() => calls(changes)).toThrow(message);
  });
});

test('a left bound includes the diagonal key in the file, but not in the options of sdpa', () => {
  const flags = { left_bound: 5, right_bound: 2, diagonal_alignment: 'BOTTOM_RIGHT' };
  expect(calls({ flags })[0].band).toEqual({ left: 4, right: 2, align: 'bottom-right' });
  expect(calls({ flags: { diagonal_alignment: 'BOTTOM_RIGHT' } })[0].band).toBeNull();
  expect(calls({ flags: { window: [64, 0], is_causal: false } })[0].band).toEqual({
    ...{ left: 64, right: 0, align: 'bottom-right' },
  });
});

test('a case with two dtypes or with chunks is a call for each', () => {
  expect(calls({ dtype: 'fp16/bf16' }).map(({ label, dtype }) => [label, dtype])).toEqual([
    ['f16', 'f16'],
    ['bf16', 'bf16'],
  ]);
  const chunked = calls({
    op: 'sdpa_fwd',
    layout: 'q,o thd chunk; k,v bshd',
    strides: undefined,
    flags: {
      ...{ padding: true, ragged: 'q,o', chunks: 2, chunk: 6, kv_len_per_chunk: [6, 12] },
      ...{ diagonal_alignment: 'TOP_LEFT', right_bound: 'chunk_start (0,6)' },
    },
  });
  expect(chunked.map(({ lengths, band }) => [lengths.q, lengths.kv, band?.right])).toEqual([
    [[6, 6], [6, 6], 0],
    [[6, 6], [12, 12], 6],
  ]);
});

test('the work of a case is computed from the shapes', () => {
  const [both] = calls();
  const [forward] = calls({ op: 'sdpa_fwd' });
  expect(gflop(forward) * 1e9).toBe(2 * 2 * 2 * 9 * 12 * (8 + 16));
  expect(gflop(both) * 1e9).toBe(2 * 2 * 2 * 9 * 12 * (8 + 16 + 3 * 8 + 2 * 16));
});

describe('two spellings of a case give the same case', () => {
  const [usual] = calls();

  test('a field that is null counts as absent', () => {
    expect(calls({ out_dtype: null, tol: null, data: null })).toEqual([usual]);
    expect(calls({ attn_scale: null })[0].scale).toBe(1);
    expect(calls({ flags: null })).toEqual(calls({ flags: {} }));
  });

  test('numbers may be strings of digits', () => {
    expect(calls({ b: '2', attn_scale: '0.125', data_seed: '7' })).toEqual([usual]);
    const flags = { left_bound: 3, seq_len_q: [1, 2], seq_len_kv: [3, 4] };
    const inWords = { left_bound: '3', seq_len_q: ['1', '2'], seq_len_kv: [3, 4] };
    expect(calls({ flags: inWords })).toEqual(calls({ flags }));
  });

  test('seeds are signed or unsigned 64-bit words', () => {
    expect(calls({ data_seed: -1 })[0].seed).toBe(2n ** 64n - 1n);
    expect(calls({ data_seed: '18446744073709551615' })[0].seed).toBe(2n ** 64n - 1n);
    expect(calls({ flags: { dropout: 0.5, seed: 2 ** 63, offset: '-2' } })[0].flags).toMatchObject({
      ...{ seed: 2n ** 63n, offset: 2n ** 64n - 2n },
    });
  });

  test('dtypes may have the names of cuDNN or of PyTorch', () => {
    expect(calls({ dtype: 'HALF/torch.bfloat16' }).map(({ dtype }) => dtype)).toEqual(['f16', 'bf16']);
  });

  test('there may be one scale per channel', () => {
    for (const attn_scale of ['1/sqrt(8)', '1/sqrt(d)', '1.0 / sqrt(d_qk)'])
      expect(calls({ attn_scale })[0].scale).toBe(1 / Math.sqrt(8));
  });
});

describe('a layout by its name', () => {
  const dims = { b: 2, h_q: 4, h_k: 2, h_v: 2, s_q: 5, s_kv: 7, d_qk: 3, d_v: 6, strides: null };
  const layouts = (layout: string) => calls({ ...dims, layout, flags: {} })[0].layouts;

  test('is an order of dimensions in upper or lower case', () => {
    expect(layouts('hsbd').k).toEqual({ packed: false, strides: [3, 42, 6, 1], front: 0 });
    expect(layouts('BSHD')).toEqual(layouts('bshd'));
    expect(layouts('sbhd').o.strides).toEqual([24, 6, 48, 1]);
  });

  test('says how q, k and v are interleaved', () => {
    // A token of a sequence has 4·3 elements of q, 2·3 of k and 2·6 of v; a head has 3 + 3 + 6.
    expect(layouts('bs3hd').v).toEqual({ packed: false, strides: [210, 6, 30, 1], front: 18 });
    expect(layouts('bsh3d').k).toEqual({ packed: false, strides: [168, 12, 24, 1], front: 3 });
    expect(layouts('bsh3d').o).toEqual({ packed: false, strides: [120, 6, 24, 1], front: 0 });
    expect(layouts('bshd_bs2hd').v).toEqual({ packed: false, strides: [126, 6, 18, 1], front: 6 });
    expect(layouts('bshd_bs2hd').q).toEqual(layouts('bshd').q);
  });

  test('says which operands are packed', () => {
    const { q, k, v, o } = layouts('thd_bshd_bshd');
    expect([q, k, v, o].map(({ packed }) => packed)).toEqual([true, false, false, true]);
    expect(layouts('q,o thd; k,v bshd')).toEqual({ ...layouts('thd_bshd_bshd') });
    expect(layouts('t3hd').v).toEqual({ packed: true, strides: [210, 6, 30, 1], front: 18 });
  });
});

test('a score program after an arrow has its bounds', () => {
  const score_mod = 'keep = row<3 || col<1 || (2 <= row-col <= 5); else -1e9';
  const [call] = calls({ flags: { score_mod, score_mod_bprop: score_mod.replace('-1e9', '0') } });
  expect(scoreProgram(call)).not.toBeNull();
  const [other] = calls({ flags: { score_mod, col_bound: 2 } });
  expect(() => scoreProgram(other)).toThrow('the flags have a bound of 2 where the score program has 1');
});
