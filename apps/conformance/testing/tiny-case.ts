import type { RawCase } from '../src/suites/cudnn/format/case-file.ts';

/**
 * A small case in the format of the files, with gaps in its layouts and arbitrary strides for extents of 1;
 * for tests.
 */
export function tinyCase(changes: RawCase = {}): RawCase {
  return {
    id: 'tiny',
    op: 'sdpa_fwd+bwd',
    ...{ b: 2, h_q: 2, h_k: 1, h_v: 1, s_q: 9, s_kv: 12, d_qk: 8, d_v: 16 },
    dtype: 'fp16',
    layout: 'strided',
    flags: { padding: true, seq_len_q: [9, 4], seq_len_kv: [12, 7], right_bound: 0, deterministic: true },
    strides: {
      q: [200, 12, 22, 1],
      k: [130, 3331333, 10, 1],
      v: [16, 99990001, 40, 1],
      o: [16, 320, 33, 1],
      stats: [18, 9, 1, 1],
    },
    data_seed: 7,
    attn_scale: 0.125,
    cudnn_expect: 'ok',
    ...changes,
  };
}
