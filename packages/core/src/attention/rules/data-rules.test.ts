import { describe, expect, test } from 'vitest';
import { normaliseRecord } from '../../../testing/one-record.ts';
import { type RuleCases, testRules } from '../../../testing/rule-cases.ts';
import { Tensor, type TensorDesc } from '../../tensor/tensor.ts';

// The rules of lengths, packed and paged tensors: the rule, a call that breaks it, and the resulting error.

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const i32 = (...values: number[]): Tensor => Tensor.from(values, [values.length], { dtype: 'i32' });
const tableOf = (...blocks: number[]): Tensor =>
  Tensor.from(blocks, [2, blocks.length / 2], { dtype: 'i32' });

const dense = { q: f32(2, 4, 5, 8), k: f32(2, 2, 7, 8), v: f32(2, 2, 7, 6) };
const packed = {
  ...{ q: f32(9, 4, 8), k: f32(11, 2, 8), v: f32(11, 2, 6) },
  ...{ cuSeqLensQ: [0, 4, 9], cuSeqLensKv: [0, 5, 11] },
};
const paged = {
  ...{ q: dense.q, k: f32(6, 2, 4, 8), v: f32(6, 2, 4, 6) },
  ...{ pageTableK: tableOf(0, 1, 2, 3), pageTableV: tableOf(5, 4, 3, 2), seqLensKv: [8, 3] },
};
const packedPages = {
  ...{ q: dense.q, k: paged.k, v: paged.v, seqLensKv: [8, 3] },
  ...{ pageTableK: i32(0, 1, 3), cuPagesK: [0, 2, 3], pageTableV: i32(5, 4, 3, 9), cuPagesV: [0, 2, 4] },
};
const onDevice: TensorDesc = { dtype: 'i32', shape: [3], strides: [1] };

const run = normaliseRecord;

const check = (valid: object, rules: RuleCases): void => testRules(run, valid, rules);

test('valid lengths, packed and paged calls are accepted', () => {
  expect(run({ ...dense, seqLensQ: [0, 5], seqLensKv: i32(7, 0) }).problem.lengthsKv).toBe('lengths');
  expect(run({ ...packed, maxSeqLenQ: 8 }).problem).toMatchObject({ B: 2, Sq: 8, Skv: 6 });
  expect(run({ ...packed, seqLensQ: [4, 3] }).problem).toMatchObject({
    lengthsQ: 'lengths',
    q: { starts: 'cumulative' },
  });
  expect(run(paged).problem).toMatchObject({ B: 2, Skv: 8, Hk: 2 });
});

describe('sequence lengths', () => {
  check(dense, {
    'are one per sequence': [
      { seqLensKv: [7, 7, 7] },
      'InvalidShapeError: seqLensKv must have shape [2], got [3]',
    ],
    'are a vector': [
      { seqLensQ: tableOf(1, 1) },
      'InvalidShapeError: seqLensQ must have shape [2], got [2,1]',
    ],
    'are integers': [
      { seqLensQ: [1, 2.5] },
      'InvalidArgumentError: seqLensQ must hold 32-bit integers, got 2.5 at 1',
    ],
    'have 32 bits': [
      { seqLensKv: [2 ** 32 + 1, 0] },
      'InvalidArgumentError: seqLensKv must hold 32-bit integers, got 4294967297 at 0',
    ],
    'are numbers, not bigints': [
      { seqLensKv: new BigInt64Array([3n, 4n]) },
      'InvalidArgumentError: seqLensKv must hold 32-bit integers, got 3n at 0',
    ],
    'are numbers or a tensor': [
      { seqLensKv: new DataView(new ArrayBuffer(8)) },
      'InvalidArgumentError: seqLensKv must be an array or a tensor, got DataView',
    ],
    'are of an integer dtype': [
      { seqLensKv: f32(2) },
      'InvalidDTypeError: seqLensKv must be i32 or u32, got f32',
    ],
    'are not negative': [
      { seqLensKv: [-1, 3] },
      'InvalidArgumentError: seqLensKv must hold lengths in [0, 7], got -1 for sequence 0',
    ],
    'do not exceed the queries': [
      { seqLensQ: i32(5, 6) },
      'InvalidArgumentError: seqLensQ must hold lengths in [0, 5], got 6 for sequence 1',
    ],
    'do not exceed the keys': [
      { seqLensKv: [8, 7] },
      'InvalidArgumentError: seqLensKv must hold lengths in [0, 7], got 8 for sequence 0',
    ],
    'leave the extents of dense queries to the tensor': [
      { maxSeqLenQ: 4 },
      'InvalidArgumentError: maxSeqLenQ is for packed, ragged and paged tensors; these have 5 positions, got 4',
    ],
    'leave the extents of dense keys to the tensor': [
      { maxSeqLenKv: 8 },
      'InvalidArgumentError: maxSeqLenKv is for packed, ragged and paged tensors; these have 7 positions, got 8',
    ],
  });
});

describe('packed tensors', () => {
  check(packed, {
    'have offsets of the queries': [
      { cuSeqLensQ: undefined },
      'InvalidShapeError: q must have rank 4 (B, H, S, D), or 3 (T, H, D) with cuSeqLensQ or raggedOffsets.q, got shape [9,4,8]',
    ],
    'have offsets of the keys': [
      { cuSeqLensKv: undefined },
      'InvalidShapeError: k must have rank 4 (B, H, S, D), or 3 (T, H, D) with cuSeqLensKv or raggedOffsets.k, got shape [11,2,8]',
    ],
    'have offsets in a vector': [
      { cuSeqLensQ: tableOf(0, 9) },
      'InvalidShapeError: cuSeqLensQ must have shape [B + 1], got [2,1]',
    ],
    'have at least one offset': [
      { cuSeqLensQ: [] },
      'InvalidShapeError: cuSeqLensQ must have shape [B + 1], got [0]',
    ],
    'have as many sequences of keys as of queries': [
      { cuSeqLensKv: [0, 11] },
      'InvalidShapeError: cuSeqLensKv must have shape [3], got [2]',
    ],
    'have integer offsets': [
      { cuSeqLensQ: f32(3) },
      'InvalidDTypeError: cuSeqLensQ must be i32 or u32, got f32',
    ],
    'start at 0': [{ cuSeqLensQ: [1, 4, 9] }, 'InvalidArgumentError: cuSeqLensQ must start with 0, got 1'],
    'follow each other': [
      { cuSeqLensKv: [0, 7, 5] },
      'InvalidArgumentError: cuSeqLensKv must not decrease, got 7 then 5',
    ],
    'end within the tokens': [
      { cuSeqLensKv: [0, 5, 12] },
      'InvalidArgumentError: cuSeqLensKv must end within the 11 packed tokens of k, got 12',
    ],
    'are no longer than stated': [
      { maxSeqLenKv: 5 },
      'InvalidArgumentError: cuSeqLensKv holds a sequence of 6, longer than the maximum 5',
    ],
    'state a count': [
      { maxSeqLenQ: 4.5 },
      'InvalidArgumentError: maxSeqLenQ must be an integer in [0, 2147483647], got 4.5',
    ],
    'state the longest sequence where offsets are not on the host': [
      { cuSeqLensKv: onDevice },
      'InvalidArgumentError: maxSeqLenKv must be given when cuSeqLensKv is not on the host',
    ],
    'state it even beside lengths on the host, which may be shorter than the sequences': [
      { cuSeqLensKv: onDevice, seqLensKv: [1, 2] },
      'InvalidArgumentError: maxSeqLenKv must be given when cuSeqLensKv is not on the host',
    ],
    'hold all sequences in each tensor': [
      { v: f32(10, 2, 6) },
      'InvalidArgumentError: cuSeqLensKv must end within the 10 packed tokens of v, got 11',
    ],
    'do not reach into the next sequence': [
      { seqLensQ: [4, 6] },
      'InvalidArgumentError: seqLensQ must hold lengths in [0, 5], got 6 for sequence 1',
    ],
  });
});

describe('paged tensors', () => {
  check(paged, {
    'have four dimensions': [
      { k: f32(6, 4, 8) },
      'InvalidShapeError: k must have rank 4 (blocks, H, pageSize, D), as a page table is given, got shape [6,4,8]',
    ],
    'have a table of one or two dimensions': [
      { pageTableV: f32(2, 2, 1) },
      'InvalidShapeError: pageTableV must have rank 2 (B, pages), or rank 1 when packed, got shape [2,2,1]',
    ],
    'have counts with a packed table': [
      { pageTableV: i32(5, 4, 3) },
      'InvalidArgumentError: cuPagesV must be given: pageTableV has rank 1',
    ],
    'have counts with a packed table only': [
      { cuPagesK: [0, 2, 3] },
      'InvalidArgumentError: cuPagesK is for a pageTableK of rank 1 (packed), got shape [2,2]',
    ],
    'have a table of integers': [
      { pageTableK: f32(2, 2) },
      'InvalidDTypeError: pageTableK must be i32 or u32, got f32',
    ],
    'have a row of the table per sequence': [
      { pageTableV: tableOf(0, 1, 2, 3).permute(1, 0).slice(0, 0, 1) },
      'InvalidShapeError: pageTableV must have 2 rows, got shape [1,2]',
    ],
    'have pages for all keys': [
      { maxSeqLenKv: 9 },
      'InvalidShapeError: pageTableK must have at least 3 pages for 9 keys, got 2',
    ],
    'have pages of a power of two': [
      { k: f32(6, 2, 3, 8) },
      'InvalidShapeError: k must have a page size that is a power of two, got 3',
    ],
    'have lengths': [
      { seqLensKv: undefined },
      'InvalidArgumentError: seqLensKv must be given with pageTableK: a page table does not say how long a sequence is',
    ],
    'use blocks that exist': [
      { pageTableK: tableOf(0, 6, 2, 3) },
      'InvalidArgumentError: pageTableK must hold blocks in [0, 6) where keys are used, got 6 for sequence 0, page 1',
    ],
    'use no negative block': [
      { pageTableV: tableOf(0, 1, -1, 3) },
      'InvalidArgumentError: pageTableV must hold blocks in [0, 6) where keys are used, got -1 for sequence 1, page 0',
    ],
  });

  check(packedPages, {
    'have a count per sequence': [
      { cuPagesK: [0, 2] },
      'InvalidShapeError: cuPagesK must have shape [3], got [2]',
    ],
    'have counts of integers': [
      { cuPagesK: f32(3) },
      'InvalidDTypeError: cuPagesK must be i32 or u32, got f32',
    ],
    'have counts that do not decrease': [
      { cuPagesV: [0, 4, 3] },
      'InvalidArgumentError: cuPagesV must not decrease, got 4 then 3',
    ],
    'have counts within the table': [
      { cuPagesV: [0, 2, 5] },
      'InvalidArgumentError: cuPagesV must end within the 4 pages of the table, got 5',
    ],
    'have pages for the keys of each sequence': [
      { cuPagesK: [0, 1, 3] },
      'InvalidArgumentError: cuPagesK must give sequence 0 at least 2 pages for its 8 keys, got 1',
    ],
    'name blocks that exist in a packed table': [
      { pageTableK: i32(0, 1, 6) },
      'InvalidArgumentError: pageTableK must hold blocks in [0, 6) where keys are used, got 6 for sequence 1, page 0',
    ],
    'say how many keys there may be when the counts are on the device': [
      { cuPagesK: onDevice },
      'InvalidArgumentError: maxSeqLenKv must be given when cuPagesK is not on the host',
    ],
  });

  test('hold as many keys as the longest list of pages addresses', () => {
    expect(run({ ...packedPages, cuPagesK: [0, 2, 3] }).problem).toMatchObject({ B: 2, Skv: 8 });
  });

  test('may hold anything where no key is used', () => {
    expect(run({ ...paged, pageTableK: tableOf(0, 1, 2, -1), seqLensKv: [8, 4] }).problem.k.page?.size).toBe(
      4,
    );
  });
});
