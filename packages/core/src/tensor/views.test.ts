import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tensor } from './tensor.ts';

const iota = (count: number) => Array.from({ length: count }, (_, n) => n);
const values = (t: Tensor) => Array.from(t.toFloat64());

describe('views', () => {
  const t = Tensor.from(iota(24), [2, 3, 4]);

  it('permute, slice and expand share storage', () => {
    const view = t.permute(2, 0, 1).slice(0, 1, 3);
    expect(view.shape).toEqual([2, 2, 3]);
    expect(values(view)).toEqual([1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22]);
    expect(view.data).toBe(t.data);
    expect(values(Tensor.from([1, 2], [2, 1]).expand([2, 2, 3]))).toEqual([
      1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2,
    ]);
  });

  it('expand takes a shape in a typed array, whose type does not bound the strides', () => {
    const wide = Tensor.zeros([2, 3, 200]);
    expect(wide.expand(Uint8Array.of(4, 2, 3, 200) as never).strides).toEqual([0, 600, 200, 1]);
  });

  it('an empty slice stays inside the storage', () => {
    const empty = t.slice(1, 3, 3);
    expect([empty.shape, empty.offset, values(empty)]).toEqual([[2, 0, 4], 0, []]);
  });

  it('reads the indexed elements, for any strides', () => {
    const dims = fc.array(fc.record({ extent: fc.integer({ min: 0, max: 3 }), gap: fc.nat(2) }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(dims, fc.boolean(), (loops, reverse) => {
        const shape = loops.map(l => l.extent);
        const strides = new Array<number>(loops.length);
        let step = 1;
        for (const d of reverse ? loops.keys() : [...loops.keys()].reverse()) {
          strides[d] = shape[d] === 1 ? 3331333 : step + loops[d].gap;
          step = Math.max(1, shape[d]) * (step + loops[d].gap);
        }
        const count = shape.reduce((n, extent) => n * extent, 1);
        const view = Tensor.from(iota(count), shape, { dtype: 'i32', strides });
        expect(values(view)).toEqual(iota(count));
        expect([...view.offsets()].map(at => view.data[at])).toEqual(iota(count));
        expect(view.contiguous().data).toEqual(Int32Array.from(iota(count)));
      }),
    );
  });

  it.each<[string, () => unknown, RegExp]>([
    ['permute', () => t.permute(0, 0, 1), /^order must be a permutation of 0..2, got \[0,0,1\]/],
    ['permute', () => t.permute(0, 1), /^order must be a permutation of 0..2, got \[0,1\]/],
    ['slice', () => t.slice(3, 0, 1), /^dim must be in 0..2, got 3/],
    ['slice', () => t.slice(1, 2, 4), /^start, end must satisfy 0 <= start <= end <= 3, got 2, 4/],
    ['expand', () => t.expand([2, 3, 5]), /^shape \[2,3,5\] is not a broadcast of \[2,3,4\]/],
    ['expand', () => t.expand([3, 4]), /^shape \[3,4\] has fewer dimensions than \[2,3,4\]/],
    [
      'reshape',
      () => t.reshape([5, 5]),
      /^shape \[5,5\] has 25 elements, but the tensor of shape \[2,3,4\] has 24/,
    ],
    [
      'reshape',
      () => t.permute(1, 0, 2).reshape([6, 4]),
      /^shape \[6,4\] merges dimensions 0 and 1 of \[3,2,4\], which are not contiguous \(strides \[4,12,1\]\); reshape a contiguous/,
    ],
  ])('%s says what is wrong', (_, view, message) => {
    expect(view).toThrow(message);
  });
});

describe('reshape', () => {
  it('splits and merges contiguous dimensions without copying', () => {
    const t = Tensor.from(iota(24), [2, 3, 4]);
    for (const shape of [[24], [6, 4], [2, 12], [1, 2, 1, 3, 2, 2, 1], [4, 6]]) {
      const view = t.reshape(shape);
      expect(view.data).toBe(t.data);
      expect(values(view)).toEqual(iota(24));
    }
    expect(Tensor.zeros([0, 3]).reshape([5, 0]).shape).toEqual([5, 0]);
    expect(Tensor.from([3], [1, 1]).reshape([]).get()).toBe(3);
  });

  it('splits a dimension of a strided view, and merges its contiguous dimensions', () => {
    const rows = Tensor.from(iota(40), [4, 10]).slice(1, 0, 6);
    expect(values(rows.reshape([2, 2, 3, 2]))).toEqual(values(rows));
    const columns = Tensor.from(iota(24), [2, 3, 4]).permute(2, 0, 1);
    expect(values(columns.reshape([4, 6]))).toEqual(values(columns));
  });

  it('ignores strides of size-1 dimensions', () => {
    const t = Tensor.from(iota(6), [2, 1, 3], { strides: [3, 99990001, 1] });
    expect(values(t.reshape([6]))).toEqual(iota(6));
  });
});
