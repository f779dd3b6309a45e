import { describe, expect, test } from 'vitest';
import { parseCase } from './case-format.ts';
import { concreteCalls } from './concrete.ts';
import { gflop } from './gflop.ts';
import { tinyCase } from './tiny-case.ts';

const calls = (changes = {}) => concreteCalls(parseCase(tinyCase(changes)));

describe('a case is understood whole or not at all', () => {
  test.each([
    ['a field', { tile_size: 64 }, 'the field tile_size is not known to the runner'],
    ['a flag', { flags: { rotary: true } }, 'the flag rotary is not known to the runner'],
    [
      "a flag's value",
      { flags: { ragged: 'k,v' } },
      'the flag ragged has a value that the runner does not know: "k,v"',
    ],
    ['an operation', { op: 'sdpa_int8_fwd' }, 'there is no operation sdpa_int8_fwd'],
    ['a dtype', { dtype: 'fp4' }, 'dtype fp4 is not known'],
    ['a layout', { layout: 'hsbd', strides: undefined }, 'the layout hsbd is not known'],
    ['a scale', { attn_scale: '2/d' }, 'attn_scale 2/d is not understood'],
    ['strides', { strides: { q: [1, 2, 3] } }, 'strides.q must be four integers, got [1,2,3]'],
    [
      'lengths',
      { flags: { padding: true, seq_len_q: [1], seq_len_kv: [1, 2] } },
      'seq_len_q has 1 lengths for a batch of 2',
    ],
  ])('%s that is not known is an error', (_, changes, message) => {
    expect(() => calls(changes)).toThrow(message);
  });
});

test('a bound counts the diagonal key in the file, and not in our options', () => {
  const flags = { left_bound: 5, right_bound: 2, diagonal_alignment: 'BOTTOM_RIGHT' };
  expect(calls({ flags })[0].band).toEqual({ left: 4, right: 2, align: 'bottom-right' });
  expect(calls({ flags: { diagonal_alignment: 'BOTTOM_RIGHT' } })[0].band).toBeNull();
  expect(calls({ flags: { window: [64, 0], is_causal: false } })[0].band).toEqual({
    ...{ left: 64, right: 0, align: 'bottom-right' },
  });
});

test('a case of two dtypes or of chunks is a call for each', () => {
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

test('work is counted from the shapes', () => {
  const [both] = calls();
  const [forward] = calls({ op: 'sdpa_fwd' });
  expect(gflop(forward) * 1e9).toBe(2 * 2 * 2 * 9 * 12 * (8 + 16));
  expect(gflop(both) * 1e9).toBe(2 * 2 * 2 * 9 * 12 * (8 + 16 + 3 * 8 + 2 * 16));
});
