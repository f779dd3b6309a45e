import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tensor } from '../tensor/tensor.ts';
import { cumulativeLengths, lengthsFromCumulative } from './cumulative-lengths.ts';
import { pack, packedSequence, unpack } from './packed.ts';

const iota = (shape: number[]) =>
  Tensor.from(
    Array.from({ length: shape.reduce((n, x) => n * x, 1) }, (_, n) => n + 1),
    shape,
  );

describe('lengths', () => {
  it('convert to cumulative ones and back', () => {
    expect(cumulativeLengths([2, 0, 3])).toEqual([0, 2, 2, 5]);
    expect(lengthsFromCumulative([0, 2, 2, 5])).toEqual([2, 0, 3]);
    expect(cumulativeLengths([])).toEqual([0]);
    fc.assert(
      fc.property(fc.array(fc.nat(1000)), lengths => {
        expect(lengthsFromCumulative(cumulativeLengths(lengths))).toEqual(lengths);
      }),
    );
  });

  it('may be tensors', () => {
    expect(cumulativeLengths(Tensor.from([2, 1], [2], { dtype: 'i32' }))).toEqual([0, 2, 3]);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'a negative length',
      () => cumulativeLengths([1, -1]),
      /^lengths must be non-negative integers, got -1 at 1/,
    ],
    [
      'more lengths than a batch has sequences, before it reads them',
      () => cumulativeLengths(new Array(2 ** 32 - 1)),
      /^lengths must have at most 16777217 entries, got 4294967295/,
    ],
    ['a fraction', () => cumulativeLengths([0.5]), /^lengths must be non-negative integers, got 0.5 at 0/],
    ['a start that is not 0', () => lengthsFromCumulative([1, 2]), /^cumulative must start with 0, got 1$/],
    ['no start', () => lengthsFromCumulative([]), /^cumulative must start with 0, got undefined$/],
    ['a decrease', () => lengthsFromCumulative([0, 3, 2]), /^cumulative must not decrease, got 3 then 2$/],
    [
      'a matrix',
      () => cumulativeLengths(Tensor.zeros([1, 2])),
      /^lengths must have rank 1, got shape \[1,2\]/,
    ],
  ])('reject %s', (_, convert, message) => {
    expect(convert).toThrow(message);
  });
});

describe('packed sequences', () => {
  it('are seen as (1, H, S, D)', () => {
    const t = iota([5, 2, 3]);
    const second = packedSequence(t, [0, 2, 2, 5], 2);
    expect(second.shape).toEqual([1, 2, 3, 3]);
    expect(second.data).toBe(t.data);
    expect(second.get(0, 1, 2, 0)).toBe(t.get(4, 1, 0));
    expect(packedSequence(t, [0, 2, 2, 5], 1).shape).toEqual([1, 2, 0, 3]);
  });

  it('omit the padding after each sequence, and are unpacked with zeros there', () => {
    const dense = iota([2, 1, 3, 2]);
    const { packed, cuSeqLens } = pack(dense, [1, 3]);
    expect(cuSeqLens).toEqual([0, 1, 4]);
    expect(packed.shape).toEqual([4, 1, 2]);
    expect(Array.from(packed.toFloat32())).toEqual([1, 2, 7, 8, 9, 10, 11, 12]);
    expect(Array.from(unpack(packed, cuSeqLens).toFloat32())).toEqual([
      1, 2, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12,
    ]);
    expect(unpack(packed, cuSeqLens, 5).shape).toEqual([2, 1, 5, 2]);
  });

  it('are unpacked unchanged, in any dtype and from any strides', () => {
    const lengths = fc.array(fc.nat(4), { maxLength: 4 });
    fc.assert(
      fc.property(lengths, fc.constantFrom('f32', 'bf16', 'f8e4m3'), (each, dtype) => {
        const dense = iota([each.length, 4, 2, 3]).cast(dtype).permute(0, 2, 1, 3);
        const { packed, cuSeqLens } = pack(dense, each);
        const back = unpack(packed, cuSeqLens, 4);
        each.forEach((length, b) => {
          const rows = (t: Tensor) =>
            t
              .slice(0, b, b + 1)
              .slice(2, 0, length)
              .toFloat32();
          expect(rows(back)).toEqual(rows(dense));
          expect(packedSequence(packed, cuSeqLens, b).toFloat32()).toEqual(rows(dense));
        });
        expect(packed.shape[0]).toBe(each.reduce((sum, n) => sum + n, 0));
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, () => unknown, RegExp]>([
    ['fewer tokens', () => unpack(iota([3, 1, 1]), [0, 4]), /^packed has 3 tokens, but cuSeqLens ends at 4/],
    ['another rank', () => unpack(iota([3, 1]), [0, 3]), /^packed must have shape \(T, H, D\), got \[3,1\]/],
    [
      'a short S',
      () => unpack(iota([3, 1, 1]), [0, 3], 2),
      /^S must be at least 3, the longest sequence, got 2/,
    ],
    ['a fractional S', () => unpack(iota([3, 1, 1]), [0, 3], 3.5), /^S must be at least 3, .*, got 3.5/],
    ['no such sequence', () => packedSequence(iota([3, 1, 1]), [0, 3], 1), /^b must be in 0..0, got 1/],
    ['too few lengths', () => pack(iota([2, 1, 3, 1]), [1]), /^lengths must have 2 entries, got 1/],
    ['a long length', () => pack(iota([1, 1, 3, 1]), [4]), /^lengths must be integers in 0..3, got 4 at 0/],
  ])('reject %s', (_, run, message) => {
    expect(run).toThrow(message);
  });
});
