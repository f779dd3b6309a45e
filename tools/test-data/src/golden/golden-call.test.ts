import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixturesDir } from '../data-folders.ts';
import { goldenCall, type MakeTensor } from './golden-call.ts';
import { goldenCases, loadGolden } from './golden-case.ts';

const committed = join(fixturesDir(), 'attention');
const shapeAndDtype: MakeTensor<string> = (raw, as) => `${as?.dtype ?? 'storage'}[${raw.shape.join(',')}]`;
const callOf = (name: string) => goldenCall(loadGolden(name, committed), shapeAndDtype);

describe('goldenCall', () => {
  test('always passes the scale, and only options that the case uses', () => {
    expect(callOf('single_key').options).toEqual({ scale: 0.35355339059327373 });
  });

  test('names the diagonal of causal and window', () => {
    expect(callOf('causal_tl_short_q').options.causal).toBe(true);
    expect(callOf('causal_fa_23x56_d15_br').options.causal).toBe('bottom-right');
    expect(callOf('window_tl_4_1').options.window).toEqual({ left: 4, right: 1, align: 'top-left' });
  });

  test('leaves an unbounded side of a window out', () => {
    expect(callOf('window_right_only').options.window).toEqual({ right: 4, align: 'bottom-right' });
  });

  test('gives ALiBi its diagonal, even if no bound hides a key', () => {
    const golden = loadGolden('alibi_causal_br_rect', committed);
    const { options } = goldenCall({ ...golden, params: { ...golden.params, causal: false } }, shapeAndDtype);
    expect(options.window).toEqual({ align: 'bottom-right' });
  });

  test('gives masks as bool and score terms as f32', () => {
    expect(callOf('mask_dead_head').options.mask).toBe('bool[1,3,1,1]');
    expect(callOf('bias_neg_inf_entries').options.bias).toBe('f32[1,2,16,16]');
    expect(callOf('alibi_causal_br_rect').options.alibi).toBe('f32[8]');
    expect(callOf('sink_dead_rows').options.sink).toBe('f32[2]');
    expect(callOf('dropout_05_causal_gqa').options.dropout).toEqual({ p: 0.5, mask: 'bool[1,4,24,24]' });
    expect(callOf('softcap_2_saturated').options.softcap).toBe(2);
  });

  test('gives only the lengths that the case gives', () => {
    const { seqLensQ, seqLensKv } = callOf('kvlens_zero').options;
    expect([seqLensQ, seqLensKv]).toEqual([undefined, [12, 0, 1]]);
    expect(callOf('lens_window_br').options).toMatchObject({ seqLensQ: [20, 11], seqLensKv: [28, 17] });
  });

  test('gives packed sequences their offsets and longest lengths', () => {
    const { q, options } = callOf('varlen_empty_seq_br');
    expect(q).toBe('storage[15,2,8]');
    expect(options).toMatchObject({ maxSeqLenQ: 6, maxSeqLenKv: 9 });
    expect(options.cuSeqLensQ?.at(-1)).toBe(15);
  });

  test('expects the gradients under their public names', () => {
    expect(Object.keys(callOf('alibi_causal_br_rect').expected)).toContain('dAlibi');
    expect(Object.keys(callOf('sink_dead_rows').expected)).toContain('dsink');
    expect(Object.keys(callOf('softcap_bias').expected)).toContain('dbias');
  });

  test('the committed cases together use every option', () => {
    const used = new Set(goldenCases(committed).flatMap(name => Object.keys(callOf(name).options)));
    expect([...used].sort()).toEqual(
      [
        ...[
          'alibi',
          'bias',
          'causal',
          'cuSeqLensKv',
          'cuSeqLensQ',
          'dropout',
          'mask',
          'maxSeqLenKv',
          'maxSeqLenQ',
        ],
        ...['scale', 'seqLensKv', 'seqLensQ', 'sink', 'softcap', 'window'],
      ].sort(),
    );
  });
});
