import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const known = ['scale', 'causal', 'window', 'mask', 'blockMask', 'dropout', 'seqLensQ', 'seqLensKv', 'p'];

test.each([
  ['is_causal', 'causal'],
  ['causual', 'causal'],
  ['Causal', 'causal'],
  ['softmax_scale', 'scale'],
  ['window_size', 'window'],
  ['attn_mask', 'mask'],
  ['block_mask', 'blockMask'],
  ['block-mask', 'blockMask'],
  ['dropoutP', 'dropout'],
  ['dropout_mask', 'dropout'],
  ['seq_lens_k', 'seqLensKv'],
  ['sacle', 'scale'],
])('%s stands for %s', (wrong, meant) => {
  expect(nearestName(wrong, known)).toBe(meant);
});

test('a part in the middle of a name stands for no name', () => {
  expect(nearestName('out', ['dropoutMask'])).toBeUndefined();
  expect(nearestName('lens', ['seqLensQ'])).toBeUndefined();
});

test.each(['enable_gqa', 'x', 'return_lse', ''])("'%s' stands for no name", wrong => {
  expect(nearestName(wrong, known)).toBeUndefined();
});

test('the text of a whole file stands for nothing, and is not compared letter by letter', () => {
  const before = performance.now();
  expect(nearestName('x'.repeat(3_000_000), known)).toBeUndefined();
  expect(performance.now() - before).toBeLessThan(1000);
});
