import { describe, expect, test } from 'vitest';
import { normaliseBackwardRecord, normaliseRecord } from '../../../testing/one-record.ts';
import { testRules } from '../../../testing/rule-cases.ts';
import { Tensor, type TensorDesc } from '../../tensor/tensor.ts';

// The rules of ragged offsets: the rule, a call that breaks it, and the resulting error.

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const onDevice: TensorDesc = { dtype: 'i32', shape: [3], strides: [1] };

// Tokens have 4 · 8, 2 · 8 and 2 · 6 elements; sequences are 4 and 5 queries, 5 and 6 keys long.
const valid = {
  ...{ q: f32(10, 4, 8), k: f32(12, 2, 8), v: f32(11, 2, 6) },
  ...{ seqLensQ: [4, 5], seqLensKv: [5, 6] },
  raggedOffsets: { q: [0, 160, 320], k: [16, 96, 192], v: [0, 60, 132], o: [0, 96, 216] },
};
const backward = {
  ...valid,
  ...{ o: f32(9, 4, 6), dO: f32(9, 4, 6), lse: f32(2, 4, 5) },
  raggedOffsets: { ...valid.raggedOffsets, o: [0, 96, 216], dO: [0, 96, 216] },
};

const run = normaliseRecord;
const runBackward = normaliseBackwardRecord;

const offsets = (changed: object) => ({ raggedOffsets: { ...valid.raggedOffsets, ...changed } });

test('gaps between sequences are legal', () => {
  expect(run(valid).problem).toMatchObject({ B: 2, Sq: 5, Skv: 6 });
  expect(runBackward(backward).problem.forward.o.starts).toBe('ragged');
});

test('sequences that are only read may overlap', () => {
  expect(() => run({ ...valid, ...offsets({ k: [0, 0, 96] }) })).not.toThrow();
});

test('lists on the device are accepted unchecked if the longest sequence is stated', () => {
  const call = {
    ...valid,
    ...offsets({ q: onDevice }),
    seqLensQ: { ...onDevice, shape: [2] },
    maxSeqLenQ: 7,
  };
  expect(run(call).problem).toMatchObject({ B: 2, Sq: 7 });
});

describe('ragged offsets', () => {
  testRules(run, valid, {
    'are those of an operand': [
      offsets({ bias: [0, 1, 2] }),
      'InvalidArgumentError: raggedOffsets.bias is not an option; the options are q, k, v, o, dO, dq, dk, dv',
    ],
    'are a list': [
      offsets({ q: 160 }),
      'InvalidArgumentError: raggedOffsets.q must be an array or a tensor, got 160',
    ],
    'are integers': [
      offsets({ q: [0, 160.5, 320] }),
      'InvalidArgumentError: raggedOffsets.q must hold 32-bit integers, got 160.5 at 1',
    ],
    'are of an integer dtype': [
      offsets({ k: f32(3) }),
      'InvalidDTypeError: raggedOffsets.k must be i32 or u32, got f32',
    ],
    'are one more than the sequences': [
      offsets({ v: [0, 60] }),
      'InvalidShapeError: raggedOffsets.v must have shape [3], got [2]',
    ],
    'say how many sequences there are': [
      offsets({ q: [] }),
      'InvalidShapeError: raggedOffsets.q must have shape [B + 1], got [0]',
    ],
    'are not negative': [
      offsets({ q: [-32, 160, 320] }),
      'InvalidArgumentError: raggedOffsets.q must not be negative, got -32',
    ],
    'do not decrease': [
      offsets({ q: [160, 0, 320] }),
      'InvalidArgumentError: raggedOffsets.q must not decrease, got 160 then 0',
    ],
    'leave room in the tensor': [
      offsets({ q: [0, 161, 320] }),
      'InvalidArgumentError: raggedOffsets.q must leave room for each sequence within the 320 elements of q, got 161 for 5 tokens (sequence 1)',
    ],
    'keep sequences of results apart': [
      offsets({ o: [0, 95, 216] }),
      'InvalidArgumentError: raggedOffsets.o must keep sequences apart, got 0 then 95 for 4 tokens of 24 elements (sequence 0)',
    ],
    'do not say how long queries are': [
      { seqLensQ: undefined },
      'InvalidArgumentError: seqLensQ must be given, or cuSeqLensQ: ragged offsets do not say how long a sequence is',
    ],
    'do not say how long keys are': [
      { seqLensKv: undefined, maxSeqLenKv: 6 },
      'InvalidArgumentError: seqLensKv must be given, or cuSeqLensKv: ragged offsets do not say how long a sequence is',
    ],
    'need the longest sequence where lengths are not on the host': [
      { seqLensQ: { ...onDevice, shape: [2] } },
      'InvalidArgumentError: maxSeqLenQ must be given when seqLensQ is not on the host',
    ],
    'are not those of pages': [
      { pageTableK: Tensor.zeros([2, 3], { dtype: 'i32' }), k: f32(6, 2, 4, 8) },
      'InvalidArgumentError: raggedOffsets.k cannot be combined with a page table',
    ],
  });

  testRules(runBackward, backward, {
    'end within o': [
      { o: f32(8, 4, 6) },
      'InvalidArgumentError: raggedOffsets.o must leave room for each sequence within the 192 elements of o, got 96 for 5 tokens (sequence 1)',
    ],
    'end within dO': [
      { raggedOffsets: { ...backward.raggedOffsets, dO: [0, 97, 216] } },
      'InvalidArgumentError: raggedOffsets.dO must leave room for each sequence within the 216 elements of dO, got 97 for 5 tokens (sequence 1)',
    ],
    'keep the gradients of keys apart': [
      { raggedOffsets: { ...backward.raggedOffsets, dk: [0, 64, 160] } },
      'InvalidArgumentError: raggedOffsets.dk must keep sequences apart, got 0 then 64 for 5 tokens of 16 elements (sequence 0)',
    ],
  });
});
