import { describe, expect, test } from 'vitest';
import { normaliseRecord } from '../../../testing/one-record.ts';
import { type RuleCases, testRules } from '../../../testing/rule-cases.ts';
import { ge, kv, load, q as queryIndex, score } from '../../expr/build.ts';
import { modOf } from '../../expr/mods/mod.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { normalise } from '../call/normalise.ts';

// Every rule of a forward call: its name, a call that breaks it, and the resulting error.

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const bool = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'bool' });
const u8 = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'u8' });

const dense = { q: f32(2, 4, 5, 8), k: f32(2, 2, 7, 8), v: f32(2, 2, 7, 6) };
const packed = { q: f32(9, 4, 8), cuSeqLensQ: [0, 4, 9], cuSeqLensKv: [0, 5, 11] };

const run = normaliseRecord;
const check = (rules: RuleCases): void => testRules(run, dense, rules);

test('every problem that breaks no rule is accepted', () => {
  const { problem } = normalise(dense, {
    ...{ scale: -1, softcap: 30, causal: 'bottom-right', window: { left: 0, right: 5 }, bias: f32(7) },
    ...{ mask: u8(2, 1, 5, 1), alibi: true, sink: [0, 1, -1, 9], outDType: 'f8e4m3' },
    ...{ blockMask: u8(1, 1), dropout: { p: 0, seed: 2n ** 64n - 1n } },
  });
  expect(problem).toMatchObject({ scale: -1, softcap: 30, alibi: true, sink: true, dropout: null });
});

describe('q, k and v', () => {
  check({
    'are tensors': [{ q: [1, 2, 3] }, 'InvalidArgumentError: q must be a tensor, got Array'],
    'have four dimensions': [
      { q: f32(4, 5, 8) },
      'InvalidShapeError: q must have rank 4 (B, H, S, D), or 3 (T, H, D) with cuSeqLensQ or raggedOffsets.q, got shape [4,5,8]',
    ],
    'have at most four dimensions': [
      { ...packed, k: f32(1, 2, 2, 7, 8) },
      'InvalidShapeError: k must have rank 4 (B, H, S, D), got shape [1,2,2,7,8]',
    ],
    'have three dimensions when ragged': [
      { raggedOffsets: { k: [0, 40, 80] }, seqLensKv: [2, 2] },
      'InvalidShapeError: k must have rank 3 (T, H, D), as its ragged offsets are given, got shape [2,2,7,8]',
    ],
    'hold floats': [
      { k: u8(2, 2, 7, 8) },
      'InvalidDTypeError: k must be f32, f16, bf16, f8e4m3 or f8e5m2, got u8',
    ],
    'have a head and a channel': [
      { q: f32(2, 4, 5, 0) },
      'InvalidShapeError: q must have at least one head and one channel, got Hq = 4, Dqk = 0',
    ],
    'have a channel in v': [
      { v: f32(2, 2, 7, 0) },
      'InvalidShapeError: v must have at least one channel, got Dv = 0',
    ],
    'agree on the head size of q and k': [
      { k: f32(2, 2, 7, 16) },
      'InvalidShapeError: k must have the head size of q (8), got 16',
    ],
    'have a number of k heads that divides those of q': [
      { k: f32(2, 3, 7, 8) },
      "InvalidShapeError: k must have a number of heads that divides q's 4, got 3",
    ],
    'have a number of v heads that divides those of q': [
      { v: f32(2, 8, 7, 6) },
      "InvalidShapeError: v must have a number of heads that divides q's 4, got 8",
    ],
    'agree on the batch size of q and k': [
      { k: f32(1, 2, 7, 8) },
      'InvalidShapeError: k must have the batch size of q (2), got 1',
    ],
    'agree on the batch size of q and v': [
      { v: f32(3, 2, 7, 6) },
      'InvalidShapeError: v must have the batch size of q (2), got 3',
    ],
    'agree on the positions of k and v': [
      { v: f32(2, 2, 8, 6) },
      'InvalidShapeError: v must have as many positions as k (7), got 8',
    ],
    'give an output of a float dtype': [
      { outDType: 'i32' },
      'InvalidDTypeError: outDType must be f32, f16, bf16, f8e4m3 or f8e5m2, got i32',
    ],
    'give an output of a known dtype': [
      { outDType: 'float16' },
      'InvalidDTypeError: outDType must be f32, f16, bf16, f8e4m3 or f8e5m2, got float16',
    ],
    'name the dtype of the output': [
      { outDType: 16 },
      'InvalidArgumentError: outDType must be the name of a dtype, got 16',
    ],
  });
});

describe('scale, softcap, bias, ALiBi and sink', () => {
  check({
    'scale is a number': [
      { scale: Number.NaN },
      'InvalidArgumentError: scale must be a finite number, got NaN',
    ],
    'scale is finite': [
      { scale: Infinity },
      'InvalidArgumentError: scale must be a finite number, got Infinity',
    ],
    'scale is finite in f32': [
      { scale: 1e39 },
      'InvalidArgumentError: scale must be a finite number, got 1e+39',
    ],
    'softcap is not zero': [
      { softcap: 0 },
      'InvalidArgumentError: softcap must be a number from 1e-30 to 1e30, got 0',
    ],
    'softcap is positive': [
      { softcap: -2 },
      'InvalidArgumentError: softcap must be a number from 1e-30 to 1e30, got -2',
    ],
    'softcap overflows no f32': [
      { softcap: 1e39 },
      'InvalidArgumentError: softcap must be a number from 1e-30 to 1e30, got 1e+39',
    ],
    'softcap is finite': [
      { softcap: Infinity },
      'InvalidArgumentError: softcap must be a number from 1e-30 to 1e30, got Infinity',
    ],
    'bias holds floats': [
      { bias: bool(5, 7) },
      'InvalidDTypeError: bias must be f32, f16, bf16, f8e4m3 or f8e5m2, got bool',
    ],
    'bias broadcasts to the scores': [
      { bias: f32(5, 8) },
      'InvalidShapeError: bias must be broadcastable to [2,4,5,7], got shape [5,8]',
    ],
    'slopes are one per query head': [
      { alibi: [0.5, 0.25] },
      'InvalidShapeError: alibi must have shape [4], got [2]',
    ],
    'slopes are finite': [
      { alibi: [1, 1, Number.NaN, 1] },
      'InvalidArgumentError: alibi must hold finite numbers, got NaN at 2',
    ],
    'slopes are f32': [{ alibi: f32(4).cast('f16') }, 'InvalidDTypeError: alibi must be f32, got f16'],
    'sinks are one per query head': [
      { sink: f32(1, 4) },
      'InvalidShapeError: sink must have shape [4], got [1,4]',
    ],
    'sinks are finite': [
      { sink: [0, -Infinity, 0, 0] },
      'InvalidArgumentError: sink must hold finite numbers, got -Infinity at 1',
    ],
    'slopes are finite in f32': [
      { alibi: [1, 1, 1e39, 1] },
      'InvalidArgumentError: alibi must hold finite numbers, got 1e+39 at 2',
    ],
    'a list is an array or a tensor': [
      { sink: 3 },
      'InvalidArgumentError: sink must be an array or a tensor, got 3',
    ],
  });
});

describe('mods', () => {
  check({
    'a score mod gives a score': [
      { scoreMod: modOf(ge(queryIndex, kv)) },
      'InvalidArgumentError: scoreMod must give f32, but its expression gives bool',
    ],
    'a mod is made by the functions that check it': [
      { scoreMod: { expr: score } },
      'InvalidArgumentError: scoreMod must be made by scoreMod, maskMod or modOf',
    ],
    'a mask mod gives a bool': [
      { maskMod: modOf(score) },
      'InvalidArgumentError: maskMod must give bool, but its expression gives f32',
    ],
    'a mask mod does not see the score': [
      { maskMod: modOf(ge(score, 0)) },
      'InvalidArgumentError: maskMod must not depend on the score',
    ],
    'one name means one tensor': [
      {
        scoreMod: modOf(load('table', [kv]), { table: f32(7) }),
        maskMod: modOf(ge(load('table', [kv]), 0), { table: f32(7) }),
      },
      "InvalidArgumentError: maskMod.captures has a different 'table' than scoreMod.captures: rename one",
    ],
  });
});

describe('masks', () => {
  check({
    'a mask is a tensor': [{ mask: null }, 'InvalidArgumentError: mask must not be null: leave it out'],
    'a mask is boolean': [
      { mask: f32(5, 7) },
      'InvalidDTypeError: mask must be bool or u8, got f32 (pass an additive mask as bias)',
    ],
    'a mask broadcasts to the scores': [
      { mask: bool(2, 2, 5, 7) },
      'InvalidShapeError: mask must be broadcastable to [2,4,5,7], got shape [2,2,5,7]',
    ],
    'a mask has at most four dimensions': [
      { mask: bool(1, 2, 4, 5, 7) },
      'InvalidShapeError: mask must be broadcastable to [2,4,5,7], got shape [1,2,4,5,7]',
    ],
    'a block mask holds bytes': [
      { blockMask: bool(1, 1, 1, 1) },
      'InvalidDTypeError: blockMask must be u8, got bool',
    ],
    'a block mask broadcasts over batch and heads': [
      { blockMask: u8(2, 2, 1, 1) },
      'InvalidShapeError: blockMask must be broadcastable to [2,4,1,1], got shape [2,2,1,1]',
    ],
    'a block mask has a bit for every tile': [
      { q: f32(2, 4, 300, 8), blockMask: u8(1, 1, 1, 1) },
      'InvalidShapeError: blockMask must end in [3,1] (tiles, bytes), got shape [1,1,1,1]',
    ],
    'causal is an alignment': [
      { causal: 'upper-left' },
      'InvalidArgumentError: causal must be one of false, true, top-left, bottom-right, got "upper-left"',
    ],
    'a window is a count of keys': [
      { window: { left: -1 } },
      'InvalidArgumentError: window.left must be a count of keys (an integer ≥ 0; omit it for no bound), got -1',
    ],
    'a window is a count of keys, also where causal is the tighter bound': [
      { causal: true, window: { right: -2 } },
      'InvalidArgumentError: window.right must be a count of keys (an integer ≥ 0; omit it for no bound), got -2',
    ],
    'a window is whole': [
      { window: { right: 1.5 } },
      'InvalidArgumentError: window.right must be a count of keys (an integer ≥ 0; omit it for no bound), got 1.5',
    ],
    'a window is aligned in a known way': [
      { window: { left: 1, align: 'middle' } },
      'InvalidArgumentError: window.align must be one of top-left, bottom-right, got "middle"',
    ],
    'causal and window have the same diagonal': [
      { causal: true, window: { left: 1, align: 'bottom-right' } },
      'InvalidArgumentError: window.align must match causal (top-left), got bottom-right',
    ],
  });
});

describe('dropout', () => {
  const mask = bool(5, 7);
  check({
    'is an object': [
      { dropout: 0.1 },
      'InvalidArgumentError: dropout must be an object of p, seed, offset, scheme, mask, scale, got 0.1',
    ],
    'p is below 1': [
      { dropout: { p: 1, seed: 1 } },
      'InvalidArgumentError: dropout.p must be a number in [0, 1), got 1',
    ],
    'p is no more than 1': [
      { dropout: { p: 1.5, seed: 1 } },
      'InvalidArgumentError: dropout.p must be a number in [0, 1), got 1.5',
    ],
    'p is not negative': [
      { dropout: { p: -0.1, mask } },
      'InvalidArgumentError: dropout.p must be a number in [0, 1), got -0.1',
    ],
    'p is a number': [
      { dropout: { p: '0.1', seed: 1 } },
      'InvalidArgumentError: dropout.p must be a number, got "0.1"',
    ],
    'has a mask or a seed': [
      { dropout: { p: 0.1 } },
      'InvalidArgumentError: dropout must have either a mask or a seed, got neither',
    ],
    'has not both': [
      { dropout: { p: 0.1, seed: 1, mask } },
      'InvalidArgumentError: dropout must have either a mask or a seed, got both',
    ],
    'seed has 64 bits': [
      { dropout: { p: 0.1, seed: 2n ** 64n } },
      'InvalidArgumentError: dropout.seed must be a bigint or a safe integer in [0, 2^64), got 18446744073709551616n',
    ],
    'seed is exact': [
      { dropout: { p: 0.1, seed: 2 ** 53 } },
      'InvalidArgumentError: dropout.seed must be a bigint or a safe integer in [0, 2^64), got 9007199254740992',
    ],
    'offset is not negative': [
      { dropout: { p: 0.1, seed: 1, offset: -4 } },
      'InvalidArgumentError: dropout.offset must be a bigint or a safe integer in [0, 2^64), got -4',
    ],
    'scheme is a known one': [
      { dropout: { p: 0.1, seed: 1, scheme: 'cudnn' } },
      'InvalidArgumentError: dropout.scheme must be one of torch-efficient, flash-attention-2, onednn, got "cudnn"',
    ],
    'scheme has a mask for p': [
      { dropout: { p: 1 - 2 ** -30, seed: 1, scheme: 'flash-attention-2' } },
      `InvalidArgumentError: dropout.p must round to an f32 below 1 for flash-attention-2, got ${1 - 2 ** -30}`,
    ],
    'its mask is boolean': [
      { dropout: { p: 0.1, mask: f32(5, 7) } },
      'InvalidDTypeError: dropout.mask must be bool or u8, got f32',
    ],
    'its mask broadcasts to the scores': [
      { dropout: { p: 0.1, mask: bool(7, 5) } },
      'InvalidShapeError: dropout.mask must be broadcastable to [2,4,5,7], got shape [7,5]',
    ],
    'its scale is finite': [
      { dropout: { scale: Infinity, mask } },
      'InvalidArgumentError: dropout.scale must be finite, got Infinity',
    ],
  });
});
